"""Two audits compared, as a short page with the answer first."""

from __future__ import annotations

from jali.core.metrics import metric
from jali.report import words
from jali.report.sheet import Block, Sheet
from jali.results.comparison import Change, Comparison

TITLES = {
    "membership": "Membership: what the combined attack reaches",
    "query attack": "People found, and values learnt",
    "measure": "What the model and its answers are worth",
}


def sheet(found: Comparison) -> Sheet:
    """The page of a comparison."""
    blocks = [_block(found, kind) for kind in TITLES]
    return Sheet("What changed", answer(found), points(found), [*blocks, _settings(found)], notes(found), found.jali)


def answer(found: Comparison) -> str:
    """The change for the worse or the better that is surest, or that none is sure."""
    sure = [change for change in found.changes if change.sure and _worse(change) != 0]
    harms = [change for change in sure if change.kind != "measure"]
    if not harms:
        return "No attack tried shows a change beyond chance from one audit to the other."
    worst = max(harms, key=lambda change: abs(change.change or 0.0))
    verb = "more" if _worse(worst) > 0 else "less"
    return f"The second audit gives away {verb}: {_subject(worst)}, {_moved(worst)}."


def points(found: Comparison) -> list[str]:
    """All other changes beyond chance, in words."""
    sure = [change for change in found.changes if change.sure and _worse(change) != 0]
    return [f"{_subject(change)[:1].upper()}{_subject(change)[1:]}: {_moved(change)}." for change in sure]


def notes(found: Comparison) -> list[str]:
    """How the intervals were made."""
    how = "Membership is compared person by person and model by model: people and training sets are the same."
    if not found.paired:
        how = f"Both audits count as independent, because {found.why}: intervals may be too wide."
    return [
        how,
        "Numbers of query attacks and measures count as independent, so their intervals may be too wide.",
        "Intervals hold for each line by itself; of 20 lines without any change, one stands out by chance.",
    ]


def _worse(change: Change) -> int:
    """1 where the change is for the worse, -1 where it is for the better, 0 where neither."""
    direction = {"higher": 1, "lower": -1, "neither": 0}[metric(change.metric).worse]
    value = change.change or 0.0
    return direction * ((value > 0) - (value < 0))


def _subject(change: Change) -> str:
    of = change.after_of if change.after_of == change.before_of else f"{change.after_of} instead of {change.before_of}"
    seen = change.channel.label if change.channel is not None else change.attack
    named = (
        " by ".join(filter(None, [of, seen])) if change.kind != "membership" else ", ".join(filter(None, [of, seen]))
    )
    return f"{metric(change.metric).title} of {named or 'the model'}"


def _moved(change: Change) -> str:
    return f"{_number(change, change.before)} before, {_number(change, change.after)} after ({_span(change)})"


def _number(change: Change, value: float | None) -> str:
    if value is None:
        return words.DASH
    unit = metric(change.metric).unit
    return f"{words.percent(value)} %" if unit in ("share", "rate") else words.number(value)


def _span(change: Change) -> str:
    if change.low is None or change.high is None:
        return change.reason or "no interval"
    unit = metric(change.metric).unit
    low, high = (_signed(value, unit in ("share", "rate")) for value in (change.low, change.high))
    points = " percentage points" if unit in ("share", "rate") else ""
    return f"change {low} to {high}{points}"


def _signed(value: float, rate: bool) -> str:
    text = words.percent(abs(value)) if rate else words.number(abs(value))
    return f"{words.MINUS if value < 0 else '+'}{text}"


def _block(found: Comparison, kind: str) -> Block:
    rows = [
        [
            _subject(change),
            _number(change, change.before),
            _number(change, change.after),
            _span(change),
            f"paired, {change.n:,} people" if change.paired else "independent",
        ]
        for change in found.changes
        if change.kind == kind
    ]
    return Block(TITLES[kind], ["what", "before", "after", "95 % interval", "compared"], rows)


def _settings(found: Comparison) -> Block:
    rows = [[name, before, after] for name, (before, after) in found.settings.items()]
    return Block("Settings that differ", ["setting", "before", "after"], rows)
