"""Trade-off curves: one figure per explainer, one stroke per channel, the same in every figure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from jali.core.values import Channel
from jali.report import roc_figure, svg, words
from jali.report.remembered import remembered
from jali.results import Curve

DASHES = {"solid": "solid", "dashed": (0, (4, 1.6)), "dotted": (0, (1, 1.3))}
DASHED: dict[str, tuple[float, ...]] = {"solid": (), "dashed": (4, 1.6), "dotted": (1, 1.3)}


@dataclass(frozen=True)
class Stroke:
    """How one channel is drawn: a colour of the series (counted from 1), a dash, a width."""

    colour: int
    dash: str
    width: float


# What the attacker has without the explanation is wide and lies below, so that it shows where curves coincide.
STROKES = {
    Channel.SCORE.label: Stroke(1, "solid", 3.6),
    Channel.DECISION.label: Stroke(4, "dashed", 3.2),
    Channel.EXPLANATION.label: Stroke(2, "dotted", 2.0),
    Channel.SCORE_AND_EXPLANATION.label: Stroke(2, "solid", 1.7),
    Channel.DECISION_AND_EXPLANATION.label: Stroke(5, "dashed", 1.9),
}
UNKNOWN = Stroke(3, "dotted", 2.0)
WIDE, THIN = 2.8, 1.7
SIZE = (svg.WIDTH, 400.0)
SAID = (0.001, 0.01, 0.1)  # rates of people wrongly flagged at which a curve is put into words


@dataclass(frozen=True)
class Panel:
    """One figure: whose explanations, the curves, the drawing."""

    title: str
    curves: tuple[Curve, ...]
    figure: Markup

    @property
    def floors(self) -> str:
        """From where on curves are drawn, once for all or per channel.

        >>> flat = dict(fpr=[1.0], tpr=[1.0], low=[1.0], high=[1.0])
        >>> Panel("", (Curve(label="score", floor=0.001, **flat),), Markup()).floors
        'Resolvable from 0.1 %.'
        """
        return floors(self.curves)


def floors(curves: Sequence[Curve]) -> str:
    """From where on curves are drawn, in words."""
    found: dict[str, list[str]] = {}
    for curve in curves:
        found.setdefault(words.percent(curve.floor, 2).rstrip("0").rstrip("."), []).append(curve.label)
    if len(found) == 1:
        return f"Resolvable from {next(iter(found))} %."
    return "Resolvable: " + "; ".join(f"{', '.join(labels)} from {at} %" for at, labels in found.items()) + "."


def panels(curves: Sequence[Curve]) -> list[Panel]:
    """The prediction's curves beside those of each explainer, on the same axes; alone if there is no explainer.

    Where an explainer has curves of the prediction on the people it explains, these take the place of everybody's.

    >>> panels([])
    []
    """
    base = tuple(c for c in curves if not c.explainer)
    titles = list(dict.fromkeys(c.explainer for c in curves if c.explainer)) or [""] * bool(base)
    start = start_of(curves)
    drawn = []
    for k, title in enumerate(titles):
        own = tuple(c for c in curves if title and c.explainer == title)
        labels = {c.label for c in own}
        some = tuple(sorted((*(c for c in base if c.label not in labels), *own), key=lambda c: _rank(c.label)))
        drawn.append(Panel(title, some, roc(f"roc-{k}", some, start)))
    return drawn


def legend(curves: Sequence[Curve]) -> list[tuple[str, Stroke]]:
    """Every channel once, in the order in which attackers see more."""
    labels = dict.fromkeys(c.label for c in curves)
    return [(label, STROKES.get(label, UNKNOWN)) for label in sorted(labels, key=_rank)]


def start_of(curves: Sequence[Curve]) -> float:
    """Where both axes begin: half the lowest floor, so that what can be resolved has most of the room."""
    floor = min([1.0, *(c.floor for c in curves)])
    positive = [x for c in curves for x in c.fpr if x > 0]
    return max(floor / 2 if floor > 0 else min([0.01, *positive]), 1e-6)


def strokes(labels: Sequence[str]) -> dict[str, Stroke]:
    """A stroke for each label: attacks whose names begin alike share a colour and a width and differ in their dash.

    >>> [(s.colour, s.dash) for s in strokes(["CFD", "CFD-LRT", "Loss", "Loss-LRT"]).values()]
    [(1, 'solid'), (1, 'dashed'), (2, 'solid'), (2, 'dashed')]
    """
    families: dict[str, list[str]] = {}
    for label in dict.fromkeys(labels):
        families.setdefault(re.split(r"\W", label, maxsplit=1)[0], []).append(label)
    if len(families) == 1 or max(map(len, families.values()), default=0) > len(DASHES):
        families = {label: [label] for label in dict.fromkeys(labels)}
    found = {}
    for f, family in enumerate(families.values()):
        for v, label in enumerate(family):
            dash = list(DASHES)[(v + f // len(svg.SERIES)) % len(DASHES)]
            found[label] = Stroke(f % len(svg.SERIES) + 1, dash, THIN if f % 2 else WIDE)
    return found


@remembered
def roc(
    name: str,
    curves: Sequence[Curve],
    start: float,
    strokes: Mapping[str, Stroke] = STROKES,
    size: tuple[float, float] = SIZE,
) -> Markup:
    """True against false positives, both logarithmic; nothing is drawn below what can be resolved."""
    floor = min([1.0, *(c.floor for c in curves)])
    drawn = [(curve, strokes.get(curve.label, UNKNOWN)) for curve in curves]
    made = [_line(curve, stroke, start) for curve, stroke in sorted(drawn, key=lambda pair: -pair[1].width)]
    labels = ", ".join(c.label for c in curves)
    title = next((c.explainer for c in curves if c.explainer), "")
    said = f"ROC curves{f', {title}' if title else ''}: {labels}"
    lines = [line for line in made if line]
    values = " ".join(f"{line.says}." for line in lines if line.says)
    return roc_figure.draw(name, said, roc_figure.Axes(start, *size), lines, floor, f"{said}. {values}".strip())


def frame(width: float, left: float = 66.0) -> tuple[float, float, float, float]:
    """Where the axes of a figure stand: room for numbers on the left, for numbers and a name below."""
    return (left / width, 0.14, 1 - (left + 13.2) / width, 0.84)


def _line(curve: Curve, stroke: Stroke, start: float) -> roc_figure.Line | None:
    """A curve where it can be resolved; None where that is nowhere."""
    points = zip(curve.fpr, curve.tpr, curve.low, curve.high, strict=True)
    kept = [(x, *(max(v, start / 10) for v in rest)) for x, *rest in points if x >= max(curve.floor, start)]
    if not kept:
        return None
    x, tpr, low, high = zip(*kept, strict=True)
    return roc_figure.Line(x, tpr, low, high, stroke.colour, stroke.width, DASHED[stroke.dash], _says(curve))


def _says(curve: Curve) -> str:
    """How many members are recognised at a few rates of people wrongly flagged, as far as they can be resolved."""
    told = []
    for rate in SAID:
        points = [(x, y) for x, y in zip(curve.fpr, curve.tpr, strict=True) if curve.floor <= x <= rate]
        if points and rate >= curve.floor:
            told.append(f"{words.percent(points[-1][1])} % at {words.percent(rate, 1)} %")
    return f"{curve.label}: recognised {', '.join(told)} wrongly flagged" if told else ""


def _rank(label: str) -> int:
    return list(STROKES).index(label) if label in STROKES else len(STROKES)
