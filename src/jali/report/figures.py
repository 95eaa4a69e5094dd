"""The report's figures: paired differences, ROC curves, exposure by subgroup."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from jali.report import svg, words
from jali.results import Curve, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LABEL, LANE, GAP = 19, 17, 13
AGAINST = {"score": svg.SERIES[0], "decision": svg.SERIES[1]}
DASHES = ("solid", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)))
Bands = Sequence[tuple[str, Sequence[Row]]]


def differences(name: str, bands: Bands, metric: str) -> Markup:
    """With minus without, one band per explanation, one lane per baseline; left of zero is shown as it is."""
    with svg.canvas(_height(bands)) as figure:
        axes = _lanes(figure.add_axes(_frame(bands)), bands, _factor(metric))
        axes.axvline(0, color=svg.INK, linewidth=1, zorder=2)
        axes.set_xlabel("difference in percentage points" if words.level(metric) else "difference in AUC")
        return svg.inline(figure, name, f"With minus without the explanation: {words.metric_name(metric)}")


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
        return svg.inline(figure, name, f"Exposure by subgroup: {words.metric_name(metric)}")


def roc(name: str, curves: Sequence[Curve]) -> Markup:
    """True against false positives, both logarithmic; nothing is drawn below what can be resolved."""
    positive = [x for c in curves for x in c.fpr if x > 0]
    floor = min([1.0, *(c.floor for c in curves)])
    start = max(min([0.01, *positive, *([floor / 2] if floor > 0 else [])]), 1e-6)
    with svg.canvas(400) as figure:
        axes = figure.add_axes((0.15, 0.14, 0.82, 0.84))
        _logarithmic(axes, start)
        axes.plot([start, 1], [start, 1], color=svg.MUTED, linewidth=1, linestyle=(0, (3, 3)), zorder=2)
        if floor > start:
            axes.axvspan(start, floor, color=svg.VEIL, linewidth=0, zorder=1)
            axes.text(
                floor * 0.88, 0.9, "below resolution", rotation=90, ha="right", va="top", color=svg.MUTED, gid="bare"
            )
        for curve, colour, dash in zip(curves, svg.SERIES, DASHES, strict=False):
            _curve(axes, curve, colour, dash, start)
        return svg.inline(figure, name, "ROC curves: " + ", ".join(c.label for c in curves))


def _curve(axes: Axes, curve: Curve, colour: str, dash: object, start: float) -> None:
    points = zip(curve.fpr, curve.tpr, curve.low, curve.high, strict=True)
    kept = [(x, *(max(v, start / 10) for v in rest)) for x, *rest in points if x >= max(curve.floor, start)]
    if not kept:
        return
    x, tpr, low, high = zip(*kept, strict=True)
    axes.fill_between(x, low, high, color=colour, alpha=0.16, linewidth=0, zorder=3)
    axes.plot(x, tpr, color=colour, linewidth=2, linestyle=dash, zorder=4)


def _logarithmic(axes: Axes, start: float) -> None:
    ticks = [t for t in (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0) if t >= start * 0.99]
    names = [f"{100 * t:.8g} %" for t in ticks]
    axes.set(xscale="log", yscale="log", xlim=(start, 1), ylim=(start, 1.08))
    axes.set_xticks(ticks, names)
    axes.set_yticks(ticks, names)
    axes.minorticks_off()
    axes.tick_params(length=0, pad=6)
    axes.grid(color=svg.GRID, linewidth=0.8)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("false accusations, share of outsiders")
    axes.set_ylabel("members identified")
    axes.xaxis.get_ticklabels()[0].set_horizontalalignment("left")
    axes.xaxis.get_ticklabels()[-1].set_horizontalalignment("right")


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
    for label, rows in bands:
        shown = words.shorten(label, 50)
        axes.annotate(shown, (0, top + 13), xycoords=("axes fraction", "data"), color=svg.INK, fontsize=13.5, zorder=5)
        for lane, row in enumerate(rows):
            _interval(axes, row, top + LABEL + LANE * (lane + 0.55), factor)
        top += _band(rows)
    axes.set_ylim(top, 0)
    axes.set_yticks([])
    axes.tick_params(axis="x", length=0, pad=6)
    axes.grid(axis="x", color=svg.GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    axes.margins(x=0.06)
    axes.locator_params(axis="x", nbins=6)
    return axes


def _interval(axes: Axes, row: Row, y: float, factor: float) -> None:
    colour = AGAINST.get(row.against, svg.SERIES[0])
    if row.value is None:
        place = {"xycoords": ("axes fraction", "data"), "va": "center", "fontsize": 11, "color": svg.MUTED}
        axes.annotate(words.shorten(f"not resolvable: {row.reason}", 60), (0, y), **place)  # type: ignore[arg-type]
        return
    if row.low is not None and row.high is not None:
        axes.plot([factor * row.low, factor * row.high], [y, y], color=colour, linewidth=2.4, zorder=3)
    marker = "D" if row.against == "decision" else "o"
    axes.plot([factor * row.value], [y], marker, color=colour, markersize=8, markeredgecolor=svg.PAPER, zorder=4)
