"""The positive control as a table, a line for a terminal and a word of the glossary."""

from __future__ import annotations

from dataclasses import dataclass

from jali.core.values import Channel
from jali.report import resolution, words
from jali.results import PositiveControl, Results

TERM = "Positive control"
SAYS = (
    "Additions of known size are planted in an explanation, and the same attack is run on them, to see what this audit "
    "would have found. Members' values move by amounts that differ from person to person as much as their mean; the "
    "size is what an attacker would gain who knew each of them. Recovered: the mean difference of the attack made to "
    "use the explanation to its baseline, in AUC; it is an estimate and may lie below zero. Found: the share of audits "
    "with as many people and target models whose interval would lie above zero. Leaks of other kinds may be harder to "
    "find."
)


@dataclass(frozen=True)
class Cell:
    """What was recovered of one planted size, and how many audits of ten would find it."""

    recovered: str
    found: str


@dataclass(frozen=True)
class Line:
    """The control of one explanation beside one baseline; its cells by planted size."""

    explainer: str
    over: str
    cells: dict[str, Cell]
    detectable: str
    extrapolated: bool


@dataclass(frozen=True)
class Table:
    """Planted sizes as columns, a line per control, and why there is none for others."""

    sizes: tuple[str, ...]
    lines: tuple[Line, ...]
    missing: tuple[str, ...]


def table(results: Results) -> Table | None:
    """The positive controls of an audit; None where there are none at all."""
    if not results.controls:
        return None
    made = [c for c in results.controls if c.sizes]
    sizes = sorted({size for c in made for size in c.sizes})
    gone = [c for c in results.controls if not c.sizes]
    return Table(tuple(f"{size:g}" for size in sizes), tuple(map(_line, made)), tuple(map(_missing, gone)))


def _line(control: PositiveControl) -> Line:
    known = zip(control.sizes, control.recovered, control.power, strict=True)
    cells = {f"{size:g}": Cell(_signed(got), in_ten(power)) for size, got, power in known}
    beyond = control.detectable is not None and control.detectable > max(control.sizes)
    return Line(control.explainer, _over(control.against), cells, least(control), beyond)


def _missing(control: PositiveControl) -> str:
    why = control.reason.rstrip(".") or f"the {_over(control.against)} alone leaves too little room"
    return f"No positive control for {control.explainer} over {_over(control.against)}: {why}."


def least(control: PositiveControl) -> str:
    """The addition that 8 of 10 audits like this find.

    >>> least(PositiveControl(explainer="e", against="score", sizes=[0, 0.05], recovered=[0, 0], power=[0, 0]))
    'more than was planted'
    """
    if control.detectable is None:
        return "more than was planted" if control.sizes else "not known"
    return words.above(control.detectable)


def in_ten(power: float) -> str:
    """A share of audits, rounded down, so that nothing is found more often than it is.

    >>> in_ten(0.79), in_ten(0.04), in_ten(1.0)
    ('7 of 10', 'fewer than 1 of 10', '10 of 10')
    """
    often = int(10 * power + 1e-9)
    return f"{often} of 10" if often else "fewer than 1 of 10"


def line(results: Results) -> str:
    """One line for a terminal: what 8 of 10 audits find beside each baseline; empty without a control."""
    parts = [_beside(results, against) for against in (Channel.SCORE, Channel.DECISION)]
    said = "; ".join(filter(None, parts))
    return f"positive control: additions in AUC that {resolution.IN_TEN} audits like this find: {said}" if said else ""


def _beside(results: Results, against: Channel) -> str:
    mine = [c for c in results.controls if c.against == against]
    if not mine:
        return ""
    several = len(mine) > 1
    each = [least(c) + (f" ({c.explainer})" if several else "") for c in mine]
    return f"over the {against} {', '.join(each)}"


def glossary(results: Results) -> list[tuple[str, str]]:
    """The word of the glossary, where a report has a positive control.

    >>> glossary(Results())
    []
    """
    return [(TERM, SAYS)] if results.controls else []


def _over(against: Channel | None) -> str:
    return "the baseline" if against is None else str(against)


def _signed(value: float) -> str:
    text = f"{abs(value):.3f}"
    return text if not text.strip("0.") else (words.MINUS if value < 0 else "+") + text
