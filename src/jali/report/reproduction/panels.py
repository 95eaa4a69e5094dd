"""A paper's figures drawn again: small multiples of trade-off curves, of distances, of accuracy by threshold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from markupsafe import Markup

from jali.report import curves, svg, words
from jali.report.curves import DASHES, Stroke
from jali.report.reproduction.ranks import critical_difference
from jali.reproduce.placing import items_in
from jali.results.reproduction import Drawing, Ranked, Series
from jali.stats.ranks import Ranking

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (350.0, 310.0)
LETTER, LINE = 7.2, 13.0  # room that a letter and a line of a note take, in pixels
READING = {
    "roc": "ROC curves, both axes logarithmic, with 95 % intervals as bands. The dashed diagonal is chance; in the "
    "grey region there are too few non-members to resolve the false-positive rate.",
    "distances": "Densities of the log distance of members and of non-members; where they coincide, no threshold "
    "on the distance separates them.",
    "thresholds": "Balanced accuracy for each threshold, given as the share of records below it; the dashed line is "
    "chance.",
    "trade-off": "Trade-off plot: each point is one setting, with 95 % intervals in both directions.",
    "sorted": "Sorted curves: the records that were explained, largest value first; a curve below another has the "
    "smaller values at every share of the records.",
    "bars": "Means over target models, with 95 % intervals.",
    "ranks": "Critical-difference diagram: average ranks over settings; the ranks of methods under one bar do not "
    "differ significantly (Nemenyi's test at 5 %).",
}


@dataclass(frozen=True)
class Panel:
    """One drawing with what is needed to read it."""

    title: str
    drawn: Markup
    legend: tuple[tuple[str, Stroke], ...]
    fine: str


@dataclass(frozen=True)
class Plate:
    """One figure of the paper: its panels and one sentence per kind of drawing."""

    title: str
    panels: tuple[Panel, ...]
    reading: tuple[str, ...]

    @property
    def items(self) -> list[str]:
        """The tables or figures of the paper that it is drawn after; none for one of ours."""
        return items_in(self.title)

    @property
    def legend(self) -> tuple[tuple[str, Stroke], ...]:
        """What all panels have in common, empty if they differ."""
        found = {panel.legend for panel in self.panels}
        return found.pop() if len(found) == 1 else ()


def plates(drawings: Iterable[Drawing]) -> list[Plate]:
    """Drawings by figure, in the order in which figures first appear; those without a line are left out."""
    found: dict[str, list[Drawing]] = {}
    for drawing in drawings:
        if drawing.ranked or any(c.fpr for c in drawing.curves) or any(s.y for s in drawing.series):
            found.setdefault(drawing.figure, []).append(drawing)
    return [_plate(f"figure-{k}", title, some) for k, (title, some) in enumerate(found.items(), 1)]


def _plate(name: str, title: str, drawings: Sequence[Drawing]) -> Plate:
    """Panels side by side; trade-off curves begin at the same rate, and accuracies have the same axis."""
    start = curves.start_of([c for d in drawings for c in d.curves])
    heights = [0.5, *(y for d in drawings if d.kind == "thresholds" for s in d.series for y in s.y)]
    room = 0.06 * (max(heights) - min(heights)) or 0.01
    limits = (min(heights) - room, max(heights) + room)
    panels = tuple(_panel(f"{name}-{k}", drawing, start, limits) for k, drawing in enumerate(drawings, 1))
    return Plate(title, panels, tuple(READING[kind] for kind in dict.fromkeys(d.kind for d in drawings)))


def _panel(name: str, drawing: Drawing, start: float, limits: tuple[float, float]) -> Panel:
    if drawing.kind == "roc":
        strokes = curves.strokes([c.label for c in drawing.curves])
        drawn = curves.roc(name, drawing.curves, start, strokes, SIZE)
        return Panel(drawing.title, drawn, tuple(strokes.items()), curves.floors(drawing.curves))
    if drawing.kind == "distances":
        return _distances(name, drawing)
    if drawing.kind == "trade-off":
        return _trade(name, drawing)
    if drawing.ranked is not None:
        return _ranks(name, drawing.title, drawing.ranked)
    strokes = curves.strokes([s.label for s in drawing.series])
    if drawing.kind == "sorted":
        return Panel(drawing.title, _sorted(name, drawing, strokes), tuple(strokes.items()), "")
    if drawing.kind == "bars":
        return Panel(drawing.title, _bars(name, drawing, strokes), tuple(strokes.items()), "")
    return Panel(drawing.title, _thresholds(name, drawing, strokes, limits), tuple(strokes.items()), "")


def _distances(name: str, drawing: Drawing) -> Panel:
    """Overlaid step densities; the first is filled, so that two are told apart without colours."""
    about, series = _split(drawing.series)
    strokes = {s.label: Stroke(k % 5 + 1, "solid" if k else "filled", 1.8) for k, s in enumerate(series)}
    with svg.canvas(SIZE[1], SIZE[0]) as figure:
        axes = _open(figure.add_axes(curves.frame(SIZE[0], 30)))
        for some in series:
            _steps(axes, some, strokes[some.label])
        axes.set_ylim(bottom=0)
        axes.set_yticks([])
        axes.set_xlabel(words.shorten(f"log distance{f', {about}' if about else ''}", 48))
        axes.set_ylabel("density")
        title = f"Log distances, {drawing.title}: {', '.join(strokes)}"
        return Panel(drawing.title, svg.inline(figure, name, title), tuple(strokes.items()), "")


def _steps(axes: Axes, series: Series, stroke: Stroke) -> None:
    colour = svg.SERIES[stroke.colour - 1]
    edges, heights = series.x[: len(series.y) + 1], series.y[: max(len(series.x) - 1, 0)]
    if not heights:
        return
    axes.stairs(heights, edges, color=colour, linewidth=stroke.width, zorder=4)
    if stroke.dash == "filled":
        axes.stairs(heights, edges, color=colour, fill=True, alpha=0.22, linewidth=0, zorder=3)


def _thresholds(name: str, drawing: Drawing, strokes: Mapping[str, Stroke], limits: tuple[float, float]) -> Markup:
    with svg.canvas(SIZE[1], SIZE[0]) as figure:
        axes = _open(figure.add_axes(curves.frame(SIZE[0])))
        axes.axhline(0.5, color=svg.MUTED, linewidth=1, linestyle=(0, (3, 3)), zorder=2)
        for series in sorted(drawing.series, key=lambda s: -strokes[s.label].width):
            stroke = strokes[series.label]
            count = min(len(series.x), len(series.y))
            (line,) = axes.plot(series.x[:count], series.y[:count], color=svg.SERIES[stroke.colour - 1], zorder=4)
            line.set(linewidth=stroke.width, linestyle=DASHES[stroke.dash])
        axes.set(xlim=(0, 1), ylim=limits)
        axes.set_xlabel("threshold: share of records below it")
        axes.set_ylabel("balanced accuracy")
        labels = ", ".join(s.label for s in drawing.series)
        return svg.inline(figure, name, f"Accuracy by threshold, {drawing.title}: {labels}")


def _sorted(name: str, drawing: Drawing, strokes: Mapping[str, Stroke]) -> Markup:
    with svg.canvas(SIZE[1], SIZE[0]) as figure:
        axes = _open(figure.add_axes(curves.frame(SIZE[0])))
        for series in drawing.series:
            stroke = strokes[series.label]
            (line,) = axes.plot(series.x, series.y, color=svg.SERIES[stroke.colour - 1], zorder=4)
            line.set(linewidth=stroke.width, linestyle=DASHES[stroke.dash], drawstyle="steps-post")
        axes.set(xlim=(0, 1))
        axes.set_ylim(bottom=0)
        axes.set_xlabel(drawing.axes[0])
        axes.set_ylabel(drawing.axes[1])
        labels = ", ".join(s.label for s in drawing.series)
        return svg.inline(figure, name, f"Sorted {drawing.axes[1]}, {drawing.title}: {labels}")


def _bars(name: str, drawing: Drawing, strokes: Mapping[str, Stroke]) -> Markup:
    """Bars of one setting side by side; series differ by their fill too, so that colours are not needed."""
    settings = {x: note for series in drawing.series for x, note in zip(series.x, series.notes, strict=True)}
    width = 0.8 / len(drawing.series)
    with svg.canvas(SIZE[1], SIZE[0]) as figure:
        axes = _open(figure.add_axes(curves.frame(SIZE[0])))
        for k, series in enumerate(drawing.series):
            at = np.array(series.x) + (k + 0.5) * width - 0.4
            colour = svg.SERIES[strokes[series.label].colour - 1]
            fill = colour if k == 0 else "none"
            axes.bar(at, series.y, 0.9 * width, facecolor=fill, edgecolor=colour, linewidth=1.6, zorder=3)
            sides = np.array([(down, up) for _, _, down, up in series.spread]).T
            axes.errorbar(at, series.y, yerr=sides, fmt="none", ecolor=svg.INK, elinewidth=1.2, zorder=4)
        axes.set_xticks(sorted(settings), [settings[x] for x in sorted(settings)])
        axes.set_ylim(bottom=0)
        axes.set_ylabel(drawing.axes[1])
        return svg.inline(figure, name, f"{drawing.title}: {', '.join(s.label for s in drawing.series)}")


def _trade(name: str, drawing: Drawing) -> Panel:
    """Points with intervals both ways, those of one defence joined and named by their setting."""
    strokes = curves.strokes([s.label for s in drawing.series])
    with svg.canvas(SIZE[1], SIZE[0]) as figure:
        axes = _open(figure.add_axes(curves.frame(SIZE[0])))
        for series in drawing.series:
            _points(axes, series, strokes[series.label])
        axes.margins(0.16)
        _notes(axes, {svg.SERIES[strokes[s.label].colour - 1]: s for s in drawing.series})
        axes.set_xlabel(drawing.axes[0])
        axes.set_ylabel(drawing.axes[1])
        labels = ", ".join(s.label for s in drawing.series)
        return Panel(drawing.title, svg.inline(figure, name, f"{drawing.title}: {labels}"), tuple(strokes.items()), "")


def _ranks(name: str, title: str, told: Ranked) -> Panel:
    """The critical-difference diagram, with the Friedman test below it."""
    found = Ranking(told.names, np.array(told.rank), told.distance, told.statistic, told.p, told.settings)
    fine = f"Friedman test over {told.settings} settings: p = {told.p:.2g}."
    return Panel(title, critical_difference(name, found), (), fine)


def _points(axes: Axes, series: Series, stroke: Stroke) -> None:
    colour = svg.SERIES[stroke.colour - 1]
    axes.plot(series.x, series.y, color=colour, linewidth=1.2, linestyle=DASHES[stroke.dash], zorder=3)
    for x, y, (left, right, down, up) in zip(series.x, series.y, series.spread, strict=True):
        axes.errorbar([x], [y], xerr=[[left], [right]], yerr=[[down], [up]], fmt="o", color=colour, elinewidth=1.2)


def _notes(axes: Axes, series: Mapping[str, Series]) -> None:
    """What each point is, by colour, beside it where no earlier note stands; settings often end close to each other."""
    taken: list[tuple[float, float, float, float]] = []
    for colour, some in series.items():
        for x, y, note in zip(some.x, some.y, some.notes, strict=True):
            at, wide = axes.transData.transform((x, y)), LETTER * len(note)
            places = [(side, up * LINE + 5) for up in (0, -1.4, 1, -2.4, 2, -3.4) for side in (5.0, -5.0 - wide)]
            boxes = [(at[0] + dx, at[1] + dy, at[0] + dx + wide, at[1] + dy + LINE) for dx, dy in places]
            best = next((k for k, box in enumerate(boxes) if not any(_overlap(box, t) for t in taken)), 0)
            taken.append(boxes[best])
            axes.annotate(note, (x, y), places[best], textcoords="offset pixels", fontsize=10.5, color=colour, zorder=5)


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _open(axes: Axes) -> Axes:
    """No frame, a faint grid."""
    axes.tick_params(length=0, pad=6)
    axes.grid(color=svg.GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    axes.locator_params(nbins=5)
    return axes


def _split(series: Sequence[Series]) -> tuple[str, list[Series]]:
    """What all labels begin with, up to a colon, and the series without it."""
    heads = {s.label.rpartition(": ")[0] for s in series}
    if len(heads) != 1:
        return "", list(series)
    return heads.pop(), [s.model_copy(update={"label": s.label.rpartition(": ")[2]}) for s in series]
