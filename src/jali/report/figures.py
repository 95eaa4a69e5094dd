"""The report's figures of intervals: paired differences and exposure by subgroup."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from jali.core.errors import JaliError
from jali.core.values import Channel
from jali.report import resolution, svg, words
from jali.report.remembered import remembered
from jali.results import Results, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LABEL, LANE, GAP = 22, 17, 11
SAID = 5  # groups that the text of a figure names; its table has all of them
AGAINST = {Channel.SCORE: svg.SERIES[0], Channel.DECISION: svg.SERIES[1]}
Bands = Sequence[tuple[str, Sequence[Row]]]


@remembered
def differences(name: str, bands: Bands, metric: str) -> Markup:
    """With minus without, one band per explanation, one lane per baseline; left of zero is shown as it is."""
    with svg.canvas(_height(bands)) as figure:
        axes = _lanes(figure.add_axes(_frame(bands)), bands, _factor(metric))
        axes.axvline(0, color=svg.INK, linewidth=1, zorder=2)
        axes.set_xlabel(
            "difference in percentage points" if words.level(metric) else f"difference in {words.metric_name(metric)}"
        )
        title = f"With minus without the explanation: {words.metric_name(metric)}"
        return svg.inline(figure, name, title, _says(title, bands), _values(bands))


@remembered
def exposure(name: str, rows: Sequence[Row], everybody: Row | None) -> Markup:
    """One dot per subgroup with its interval; lines mark chance and the rate over everybody."""
    bands = [(row.group, [row]) for row in rows]
    metric = rows[0].metric
    with svg.canvas(_height(bands)) as figure:
        axes = _lanes(figure.add_axes(_frame(bands)), bands, _factor(metric))
        chance = words.level(metric) or 0.5
        axes.axvline(_factor(metric) * chance, color=svg.MUTED, linewidth=1, linestyle=(0, (3, 3)), zorder=1)
        if everybody is not None and everybody.value is not None:
            axes.axvline(_factor(metric) * everybody.value, color=svg.SERIES[1], linewidth=1.2, zorder=1)
        if words.level(metric) is not None:
            axes.set_xlim(left=0)
        axes.set_xlabel("members identified, per cent" if words.level(metric) else words.metric_name(metric))
        title = f"Exposure by subgroup: {words.metric_name(metric)}"
        most = bands[:SAID]
        beside = "" if everybody is None or everybody.value is None else f" Everybody: {words.value_of(everybody)}."
        return svg.inline(figure, name, title, f"{_says(title, most)}{beside}", _values(bands))


def added(results: Results, metric: str = "auc", axes: Axes | None = None) -> Axes:
    """What each explanation adds to each prediction, for matplotlib: one line per difference, with its interval."""
    from matplotlib import pyplot

    rows = [r for r in results.find(kind="contrast", metric=metric, group="") if r.value is not None]
    if not rows:
        raise JaliError(f"This audit has no paired difference in {metric}: name an explainer, or another metric.")
    drawn = axes if axes is not None else pyplot.subplots(figsize=(6, 0.5 * len(rows) + 1), layout="constrained")[1]
    factor = _factor(metric)
    for place, row in enumerate(reversed(rows)):
        value = factor * (row.value or 0.0)
        if row.low is not None and row.high is not None:
            drawn.plot([factor * row.low, factor * row.high], [place, place], color="black", linewidth=1.5)
        drawn.plot([value], [place], "o", color="black")
    drawn.axvline(0, color="grey", linewidth=1)
    drawn.set_yticks(range(len(rows)), [f"{r.explainer}, over {r.against}" for r in reversed(rows)])
    unit = " (percentage points)" if words.level(metric) else ""
    drawn.set_xlabel(f"what the explanation adds: {words.metric_name(metric)}{unit}")
    return drawn


def _says(title: str, bands: Bands) -> str:
    """What a figure shows, for those who do not see it."""
    said = "; ".join(shown(label, row) for label, rows in bands for row in rows)
    return f"{title}. {said}."


def _values(bands: Bands) -> dict[str, str]:
    """What a browser shows over each dot, by the number of its band and lane."""
    return {f"value-{b}-{k}": shown(label, row) for b, (label, rows) in enumerate(bands) for k, row in enumerate(rows)}


def shown(label: str, row: Row) -> str:
    """One interval in words.

    >>> shown("town: rare", Row(kind="attack", metric="tpr@0.01", value=0.064, low=0.05, high=0.08))
    'town: rare: 6.4\u202f% (5.0–8.0)'
    """
    over = f" over the {row.against.value}" if row.against is not None else ""
    span = words.span_of(row)
    return f"{label}{over}: {words.value_of(row)}{f' ({span})' if span else ''}"


def _factor(metric: str) -> float:
    return 1.0 if words.level(metric) is None else 100.0


def _band(rows: Sequence[Row]) -> int:
    return LABEL + LANE * len(rows) + GAP


def _height(bands: Bands) -> float:
    return sum(_band(rows) for _, rows in bands) + 56


def _frame(bands: Bands) -> tuple[float, float, float, float]:
    height = _height(bands)
    return (0.004, 50 / height, 0.985, 1 - 54 / height)


def _lanes(axes: Axes, bands: Bands, factor: float) -> Axes:
    """Bands from top to bottom, the label above its intervals, so that long names have the whole width."""
    top = 0.0
    for band, (label, rows) in enumerate(bands):
        short = words.shorten(label, 50)
        # The label has a strip of its own: lines of the plot end above it and go on below.
        axes.axhspan(top - 3, top + LABEL - 2, color=svg.PAPER, linewidth=0, zorder=2.5, clip_on=False)
        axes.annotate(short, (0, top + 13), xycoords=("axes fraction", "data"), color=svg.INK, fontsize=13.5, zorder=5)
        for lane, row in enumerate(rows):
            _interval(axes, row, top + LABEL + LANE * (lane + 0.55), factor, f"value-{band}-{lane}")
        top += _band(rows)
    return bare(axes, top)


def bare(axes: Axes, height: float) -> Axes:
    """Lanes from top to bottom, numbers along the bottom, no frame."""
    axes.set_ylim(height, 0)
    axes.set_yticks([])
    axes.tick_params(axis="x", length=0, pad=6)
    axes.grid(axis="x", color=svg.GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    axes.margins(x=0.06)
    axes.locator_params(axis="x", nbins=6)
    return axes


def _interval(axes: Axes, row: Row, y: float, factor: float, gid: str) -> None:
    colour = svg.SERIES[0] if row.against is None else AGAINST[row.against]
    place = {"xycoords": ("axes fraction", "data"), "va": "center", "fontsize": 11, "color": svg.MUTED, "zorder": 5}
    place["bbox"] = {"facecolor": svg.PAPER, "edgecolor": "none", "pad": 1}  # no line of the plot runs through words
    if row.value is None:
        axes.annotate(words.shorten(f"not resolvable: {row.reason}", 60), (0, y), **place)  # type: ignore[arg-type]
        return
    if resolution.unused(row):
        # A dot at zero would look like a finding.
        axes.annotate(f"{words.NOT_USED} by the combined attack", (0, y), **place)  # type: ignore[arg-type]
        return
    if row.low is not None and row.high is not None:
        axes.plot([factor * row.low, factor * row.high], [y, y], color=colour, linewidth=2.4, zorder=3)
    marker = "D" if row.against is Channel.DECISION else "o"
    dot = axes.plot([factor * row.value], [y], marker, color=colour, markersize=8, markeredgecolor=svg.PAPER, zorder=4)
    dot[0].set_gid(gid)
