"""The figure of a test of a privacy claim: a bar per view up to the epsilon that is shown, the claim as a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from jali.report import svg, words
from jali.report.figures import bare
from jali.results.verification import Verification

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LABEL = 20  # pixels of the name above a bar
BAR = 11
LANE = LABEL + BAR + 9
TOP = 30  # room for the names of the lines
FOOT = 50
LARGEST = 1e6  # an epsilon from which on nothing is drawn: e^epsilon is beyond all floats long before
SHOWN = 8  # bars; all bounds are in the table
BESIDE = 0.12  # of the width: lines that are nearer to each other share no row of names


def drawable(found: Verification) -> bool:
    """Whether there are bars, and numbers that have a place on an axis."""
    numbers = (found.epsilon, found.ceiling, *found.bounds.values())
    return bool(found.bounds) and all(0 <= number < LARGEST for number in numbers)


def figure(found: Verification) -> Markup:
    """Bars from 0 to the bound of each view, the largest first, between the claim and what could be shown."""
    bounds = sorted(found.bounds.items(), key=lambda each: -each[1])[:SHOWN]
    height = TOP + LANE * len(bounds) + FOOT
    right = 1.06 * max(found.ceiling, found.epsilon, *(bound for _, bound in bounds), 0.1)
    with svg.canvas(height) as drawing:
        axes = drawing.add_axes((0.012, FOOT / height, 0.976, 1 - (FOOT + TOP) / height))
        bare(axes, LANE * len(bounds))
        axes.set_xlim(0, right)
        _bars(axes, bounds, found)
        _line(axes, found.epsilon, f"claimed {found.epsilon:g}", svg.INK, "-", 8)
        far = abs(found.ceiling - found.epsilon) > 3 * BESIDE * right
        _line(axes, found.ceiling, f"can be shown {found.ceiling:.2f}", svg.MUTED, (0, (3, 3)), 8 if far else 20)
        axes.set_xlabel("epsilon")
        title = f"Claimed epsilon {found.epsilon:g}; the largest that is shown is {found.lower:.2f}"
        return svg.inline(drawing, "epsilon", title)


def _bars(axes: Axes, bounds: Sequence[tuple[str, float]], found: Verification) -> None:
    for place, (view, bound) in enumerate(bounds):
        top = place * LANE
        colour = svg.SERIES[1] if found.exceeds(view) else svg.SERIES[0]
        axes.annotate(
            f"{words.shorten(view, 44)}: {bound:.2f}",
            (0, top + LABEL - 6),
            xycoords=("axes fraction", "data"),
            color=svg.INK,
            fontsize=12.5,
            zorder=5,
            bbox={"facecolor": svg.PAPER, "edgecolor": "none", "pad": 1},
        )
        axes.barh(top + LABEL + BAR / 2, max(bound, 0.0), BAR, color=colour, zorder=3)
        axes.plot([0], [top + LABEL + BAR / 2], "|", color=colour, markersize=BAR, zorder=3)


def _line(axes: Axes, at: float, name: str, colour: str, style: str | tuple[int, tuple[int, int]], above: int) -> None:
    """A vertical line with its name above the bars, inside the figure."""
    axes.axvline(at, color=colour, linewidth=1.6, linestyle=style, zorder=4)
    side = "left" if at < sum(axes.get_xlim()) / 2 else "right"
    axes.annotate(
        name,
        (at, 1),
        (0, above - 4),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        ha=side,
        color=colour,
        fontsize=12,
        annotation_clip=False,
    )
