"""The critical-difference diagram: methods by average rank, and bars over those that a test does not tell apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from markupsafe import Markup

from jali.report import svg, words
from jali.report.figures import bare
from jali.stats.ranks import Ranking

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RULER, BAR, LABEL, LANE = 36.0, 9.0, 21.0, 17.0
TICKS, NOTE, GAP = 28.0, 30.0, 8.0


def critical_difference(name: str, found: Ranking, best: str = "1 is best") -> Markup:
    """Axis of ranks on top, a ruler of the critical distance, bars over what is alike, one lane per method below."""
    order, top = np.argsort(found.rank, kind="stable"), RULER + BAR * len(found.alike()) + GAP
    body = top + (LABEL + LANE) * len(order)
    height = TICKS + body + NOTE
    with svg.canvas(height) as figure:
        axes = _axis(figure.add_axes((0.02, NOTE / height, 0.96, body / height)), found, body)
        _ruler(axes, found)
        _bars(axes, found, top - GAP)
        for lane, j in enumerate(order):
            label = f"{words.shorten(found.names[j], 44)}: {found.rank[j]:.2f}"
            _lane(axes, label, float(found.rank[j]), top + (LABEL + LANE) * lane)
        axes.set_xlabel(f"average rank over {found.settings} settings, {best}", labelpad=8)
        return svg.inline(figure, name, _title(found, [int(j) for j in order]))


def _title(found: Ranking, order: list[int]) -> str:
    ranked = ", ".join(f"{found.names[j]} {found.rank[j]:.2f}" for j in order)
    return f"Average ranks: {ranked}; critical distance {found.distance:.2f}; Friedman test p = {found.p:.2g}"


def _axis(axes: Axes, found: Ranking, height: float) -> Axes:
    last = len(found.names)
    bare(axes, height)
    axes.set_xlim(0.85, max(last, 1 + found.distance) + 0.15)
    axes.set_xticks(range(1, last + 1))
    axes.tick_params(axis="x", top=False, bottom=False, labeltop=True, labelbottom=False, pad=4)
    return axes


def _ruler(axes: Axes, found: Ranking) -> None:
    y, ends = 8.0, (1.0, 1.0 + found.distance)
    axes.plot(ends, (y, y), color=svg.INK, linewidth=1.4, marker="|", markersize=8, zorder=4)
    place = {"va": "top", "fontsize": 11, "color": svg.MUTED}
    axes.text(1.0, y + 4, f"critical distance {found.distance:.2f}", **place)  # type: ignore[arg-type]


def _bars(axes: Axes, found: Ranking, bottom: float) -> None:
    """A stem per method from the ruler down to the lanes, and a bar from the first to the last of what is alike."""
    axes.vlines(found.rank, RULER - 4, bottom, color=svg.MUTED, linewidth=0.9, zorder=3)
    for lane, group in enumerate(found.alike()):
        ends, y = found.rank[list(group)], RULER + BAR * (lane + 0.5)
        axes.plot([ends.min(), ends.max()], [y, y], color=svg.SERIES[1], linewidth=4, solid_capstyle="round", zorder=4)


def _lane(axes: Axes, label: str, rank: float, top: float) -> None:
    """A label in a strip of its own, which interrupts the lines behind it, and a dot below."""
    axes.axhspan(top, top + LABEL - 1, color=svg.PAPER, linewidth=0, zorder=2.5)
    axes.annotate(label, (0, top + 15), xycoords=("axes fraction", "data"), color=svg.INK, fontsize=13.5, zorder=5)
    place = {"color": svg.SERIES[0], "markersize": 8, "markeredgecolor": svg.PAPER, "zorder": 4}
    axes.plot([rank], [top + LABEL + LANE / 2], "o", **place)  # type: ignore[arg-type]
