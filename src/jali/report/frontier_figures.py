"""The figures of a frontier: for each measure of utility, leakage against it, one mark per configuration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from jali.core.values import Channel
from jali.report import standalone, svg
from jali.results.frontier import Frontier, Number, Plane

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIRST = ("membership", Channel.DECISION_AND_EXPLANATION, "auc")
DRAWN = ("accuracy", "answered", "valid", "cost", "fidelity", "agreement", "imitation")
DOWNWARDS = ("cost",)  # measures of which less is better: drawn upside down, so that up is always better
MARKERS = ("o", "s", "D", "^", "v", "P", "X")
CROWDED = (0.05, 0.05)  # shares of the axes within which numbers would lie on each other
LETTER = 0.02  # width of a letter of a label, as a share of the axes
EDGE = 0.2  # of the width of a figure: marks that far right have their labels to the left
LEGEND = (
    "Every mark is a configuration, with its number in the table below, on the fresh target models. Its place is the "
    "upper end of what attacks reach from decision and explanation; the line to its left is the interval. Up and left "
    "is better. The line joins the configurations that no other beat on the validation targets."
)


def figures(found: Frontier) -> list[tuple[str, str, Markup]]:
    """Name, title and figure for each measure."""
    out = []
    for plane in found.planes:
        if (plane.learns, plane.channel, plane.metric) == FIRST and plane.measure in DRAWN:
            title = f"Leakage against {plane.measure}" + (" (less is better)" if plane.measure in DOWNWARDS else "")
            out.append((plane.measure, title, _figure(found, plane, title)))
    return [each for each in out if each[2]]


def files(found: Frontier) -> dict[str, str]:
    """Each figure as a file of its own, by name."""
    return {f"frontier-{name}.svg": standalone.file(drawn, title) for name, title, drawn in figures(found)}


def _figure(found: Frontier, plane: Plane, title: str) -> Markup:
    places = _places(found, plane.measure)
    if not places:
        return Markup("")
    families = list(dict.fromkeys(c.family for c in found.configurations))
    names = [c.name for c in found.configurations]
    with svg.canvas(330) as figure:
        axes = figure.add_axes((0.13, 0.16, 0.85, 0.8))
        for name, (leak, use) in places.items():
            which = families.index(next(c.family for c in found.configurations if c.name == name))
            _mark(axes, leak, use, svg.SERIES[which % len(svg.SERIES)], MARKERS[which % len(MARKERS)])
        _joined(axes, [places[name] for name in plane.front if name in places])
        _numbered(axes, {names.index(name) + 1: place for name, place in places.items()})
        axes.axvline(0.5, color=svg.MUTED, linewidth=1, linestyle=(0, (3, 3)), zorder=1)
        if plane.measure in DOWNWARDS:
            axes.invert_yaxis()
        axes.set_xlabel("AUC, upper end")
        axes.set_ylabel(plane.measure)
        axes.tick_params(length=0, pad=5)
        axes.grid(color=svg.GRID, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[:].set_visible(False)
        axes.margins(0.08)
        return svg.inline(figure, f"frontier-{plane.measure}", title)


Place = tuple[Number, Number]


def _places(found: Frontier, measure: str) -> dict[str, Place]:
    """Leakage and worth of each configuration that has both, on the fresh targets."""
    leaks = {k.configuration: k.fresh for k in found.leaks if (k.learns, k.channel, k.metric) == FIRST}
    uses = {w.configuration: w.fresh for w in found.worth if w.measure == measure and w.group == "all"}
    both = [c.name for c in found.configurations if c.name in leaks and c.name in uses]
    return {n: (leaks[n], uses[n]) for n in both if leaks[n].value is not None and uses[n].value is not None}


def _upper(n: Number) -> float:
    return float(n.high if n.high is not None else n.value or 0.0)


def _mark(axes: Axes, leak: Number, use: Number, colour: str, marker: str) -> None:
    x = _upper(leak)
    y = float(use.value or 0.0)
    if leak.low is not None:
        axes.plot([leak.low, x], [y, y], color=colour, linewidth=1.2, alpha=0.55, zorder=2)
    if use.low is not None and use.high is not None:
        axes.plot([x, x], [use.low, use.high], color=colour, linewidth=1.2, alpha=0.55, zorder=2)
    axes.plot([x], [y], marker, color=colour, markersize=8, markeredgecolor=svg.PAPER, zorder=4)


def _joined(axes: Axes, some: Sequence[Place]) -> None:
    """The front as a line from left to right."""
    ordered = sorted((_upper(leak), float(use.value or 0.0)) for leak, use in some)
    if len(ordered) > 1:
        axes.plot([x for x, _ in ordered], [y for _, y in ordered], color=svg.INK, linewidth=1.3, zorder=3)


def _numbered(axes: Axes, places: dict[int, Place]) -> None:
    """The numbers beside the marks; those of marks at one place share a label."""
    width = max(axes.get_xlim()[1] - axes.get_xlim()[0], 1e-9)
    height = max(axes.get_ylim()[1] - axes.get_ylim()[0], 1e-9)
    groups: list[tuple[float, float, list[int]]] = []
    for number, (leak, use) in sorted(places.items(), key=lambda item: _upper(item[1][0])):
        x = _upper(leak)
        y = float(use.value or 0.0)
        # A label reaches as far to the right as it is long.
        near = [
            g
            for g in groups
            if abs(g[1] - y) < CROWDED[1] * height
            and x - g[0] < (CROWDED[0] + LETTER * len(listed(sorted(g[2])))) * width
        ]
        if near:
            near[-1][2].append(number)
        else:
            groups.append((x, y, [number]))
    for x, y, numbers in groups:
        # Near the right edge a label stands below and to the left: so it neither leaves the figure nor meets others.
        outer = x > axes.get_xlim()[1] - EDGE * width
        place = (-5, -14) if outer else (5, 5)
        side = "right" if outer else "left"
        text = listed(sorted(numbers))
        axes.annotate(text, (x, y), place, textcoords="offset points", fontsize=11, color=svg.INK, zorder=5, ha=side)


def listed(numbers: Sequence[int]) -> str:
    """Numbers in order, with ends instead of three or more that follow each other.

    >>> listed([1, 2, 3, 4, 7, 9, 10])
    '1–4, 7, 9, 10'
    """
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{p[0]}–{p[-1]}" if len(p) > 2 else ", ".join(map(str, p)) for p in parts)
