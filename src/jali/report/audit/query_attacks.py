"""What query attacks achieved, in sentences that say whom an answer gives away and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping

from jali.report import views, words
from jali.results import Results, Row

NONE = "none"
FIRST = 3  # sentences on the first page
MEANING = (
    "An explanation that shows somebody's row carries that person's values. The attacker here holds a list of people "
    "with the columns that others know too, looks up who fits the answer, and reads off the rest of the row.",
    "With more columns that others know, people are found more easily: mark all of them.",
    "The numbers hold for the attacks listed below, and say nothing about attacks that were not tried.",
)

CAPTIONS = {
    views.FOUND: "The attacker looks up each answer in a list of people and picks one of those who fit. Private values "
    "are the columns that the list does not hold. Only what is known beyond the baseline is given away by the "
    "explanation.",
    views.AFTER: "Whom several answers single out together.",
    views.MEMBERS: "The attacker makes many queries and claims who was in the training data. Compare precision with "
    "the base rate.",
    views.MEANS: "What the attacker's own models and the surrogates are worth.",
}


def sentences(results: Results) -> tuple[str, ...]:
    """A sentence or two per explainer, or the model, about the query attack that achieved most.

    >>> sentences(Results())
    ()
    """
    return tuple(_sentence(line, rivals) for line, rivals in _strongest(results)[:FIRST])


def count(results: Results) -> str:
    """The number that the first sentence is about."""
    cells = _strongest(results)[0][0].cells
    name = _main(cells)
    return _range(cells[name], 0 if name == "singled_out" else 1)


def meaning(results: Results) -> tuple[str, ...]:
    """What it means that people are found, or that membership is inferred."""
    return MEANING if any(block.title == views.FOUND for block in views.queries(results)) else MEANING[2:]


def _strongest(results: Results) -> list[tuple[views.Line, int]]:
    """Of each explainer, or the model, the attack that achieved most, and among how many; the strongest first."""
    found: dict[tuple[str, str], list[views.Line]] = {}
    for block in (b for b in views.queries(results) if b.title not in (views.AFTER, views.MEANS)):
        for line in (x for x in block.lines if _weight(x) >= 0):
            found.setdefault((block.title, line.head.explainer), []).append(line)
    best = [(max(lines, key=_weight), len(lines)) for lines in found.values()]
    return sorted(best, key=lambda pair: -_weight(pair[0]))


def _sentence(line: views.Line, rivals: int) -> str:
    """What one attack achieved."""
    by = line.head.attack + (f", the strongest of {rivals}" if rivals > 1 else "")
    if "singled_out" in line.cells:
        return f"{_found(line, by)} {_learnt(line)}".strip()
    by += "," if rivals > 1 else ""
    whom = f"the surrogate {line.head.explainer}" if line.head.explainer else "the model"
    if "auc" not in line.cells:
        row = line.cells[_main(line.cells)]
        span = words.span_of(row)
        number = f"{words.value_of(row)} ({span})" if span else words.value_of(row)
        return f"By querying {whom}, the attack {by} reaches {words.metric_name(row.metric)} {number}."
    auc = line.cells["auc"]
    chance = "; chance: 50"
    if auc.low is not None and auc.low <= 0.5:
        chance = ", which cannot be distinguished from chance (50)"
    return (
        f"By querying {whom}, the attack {by} would pick the member in {_range(auc, 1)} of 100 pairs of one member and "
        f"one non-member{chance}."
    )


def _found(line: views.Line, by: str) -> str:
    """Who can be found."""
    alone, right = (_range(line.cells[metric]) for metric in ("singled_out", "reidentified"))
    if alone == NONE:
        return (
            f"Of 100 answers by {line.head.explainer}, {alone} was found to fit one person alone on a list of people "
            f"({by}; other attacks may find some), and {right} lead to the right person."
        )
    return (
        f"Of 100 answers by {line.head.explainer}, {alone} fit one person alone on a list of people ({by}), and "
        f"{right} lead to the right person."
    )


def _learnt(line: views.Line) -> str:
    """What is then known of them, and what would be known anyway."""
    after, before = _value(line, "disclosed"), _value(line, "disclosed_baseline")
    if after is None:
        return ""
    known = f"The attacker then knows {words.whole_percent(after)} of that person's other values"
    if before is None:
        return f"{known}; what could be guessed without the explanation was not measured, since nobody is left outside."
    return f"{known}; {words.whole_percent(before)} could be guessed without the explanation."


def _weight(line: views.Line) -> float:
    """How much an attack achieved; below zero where it could not be run."""
    value = _value(line, _main(line.cells))
    return -1.0 if value is None else value


def _main(cells: Mapping[str, Row]) -> str:
    """The metric that says most of an attack: singling out, AUC, else the first."""
    return next((name for name in ("singled_out", "auc") if name in cells), next(iter(cells)))


def _value(line: views.Line, metric: str) -> float | None:
    return line.cells[metric].value if metric in line.cells else None


def _range(row: Row, digits: int = 0) -> str:
    """A share as so many of 100."""
    low, high = (None if end is None else f"{100 * min(max(end, 0.0), 1.0):.{digits}f}" for end in (row.low, row.high))
    if low is None or high is None or low == high:
        about = f"{100 * (row.value or 0.0):.{digits}f}"
        if not row.value:
            return NONE
        if float(about) == 100 and row.value < 1:
            return "more than 99"
        return f"about {about}" if float(about) else "fewer than 1"
    return f"between {low} and {high}"
