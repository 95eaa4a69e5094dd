"""Explanations before and after a defence, where an audit has both: what leaks, and what the answers are worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jali.audit.wrapped import part_of, wraps
from jali.core.values import Channel
from jali.report import words
from jali.report.audit import membership, verdicts
from jali.results import Results, Row

NAMED = {
    "reidentified": "{} of 100 answers lead to the right person",
    "singled_out": "{} of 100 answers fit one person alone",
    "disclosed": "{} of 100 private values of the person named are known",
}
TIME = "Time for an answer"
PRICES = {
    "answered": "{} of people are answered",
    "validity": "{} of answers are valid",
    "withheld": "{} of answers are withheld",
    "sparsity": "{} of the columns change",
    "seconds": "{} an answer",
}


@dataclass(frozen=True)
class Change:
    """One number before and after; `harm` says whether it is about people or about what answers are worth.

    phrase: the words of a sentence around the number, which stands at {}. difference: its interval, where the same
    people were asked on both sides.
    """

    label: str
    phrase: str
    harm: bool
    before: str
    after: str
    difference: str = ""

    @property
    def told(self) -> str:
        """The change in a sentence.

        >>> Change("Answered", "{} of people are answered", False, "100 %", "25 %").told
        '25 % of people are answered (before: 100 %)'
        """
        said = f"{self.label}: {self.after}" if self.after == membership.TOO_SMALL else self.phrase.format(self.after)
        same = f"; change {self.difference} over the same people" if self.difference else ""
        return said if self.before == words.DASH else f"{said} (before: {self.before}{same})"


@dataclass(frozen=True)
class Pair:
    """An explanation, the same one defended, and what differs.

    lowers: whether the worst harm is surely lower after: by the interval of the change, or else by both intervals.
    """

    bare: str
    defended: str
    changes: tuple[Change, ...]
    lowers: bool


def defended_by(results: Results, bare: str) -> list[tuple[str, Any]]:
    """Names and parts of the explanations of an audit that wrap another one of it."""
    inner = part_of(results, bare)
    names = [name for name in verdicts.explainers(results) if name != bare]
    parts = [(name, part_of(results, name)) for name in names]
    return [(name, one) for name, one in parts if wraps(one, inner)]


def pairs(results: Results) -> list[Pair]:
    """Every explanation that stands beside a defence of it.

    >>> pairs(Results())
    []
    """
    names = [(bare, name) for bare in verdicts.explainers(results) for name, _ in defended_by(results, bare)]
    return [one for bare, name in names if (one := pair(results, bare, name)).changes]


def pair(results: Results, bare: str, defended: str) -> Pair:
    """One explanation beside one defence of it."""
    changes = (*_harms(results, bare, defended), *_prices(results, bare, defended))
    return Pair(bare, defended, changes, _lowers(results, bare, defended))


def _lowers(results: Results, bare: str, defended: str) -> bool:
    """By the worst attack on each: people named, where the bare explanation names any; else what it adds."""
    before, after = (verdicts.best(results, name, "reidentified") for name in (bare, defended))
    change = _change(results, bare, defended, "reidentified")
    if before is not None and before.low and change is not None:
        return change.high is not None and change.high < 0
    if before is None or not before.low:
        before, after = (membership.contrast(results, name, Channel.DECISION, "auc") for name in (bare, defended))
    if before is None or after is None or before.low is None or after.high is None:
        return False
    return after.high < before.low


def _harms(results: Results, bare: str, defended: str) -> list[Change]:
    """People named and values learnt, by the worst attack on each; what is added to membership."""
    found = []
    for metric, phrase in NAMED.items():
        before, after = (verdicts.best(results, name, metric) for name in (bare, defended))
        if before is not None and after is not None:
            one, other = (verdicts.of_100(row) for row in (before, after))
            change = _change(results, bare, defended, metric)
            less = "" if change is None else f"{100 * (change.low or 0.0):+.0f} to {100 * (change.high or 0.0):+.0f}"
            found.append(Change(f"{words.metric_name(metric)}, of 100", phrase, True, one, other, _signed(less)))
    for base, name in membership.BASES.items():
        cells = [verdicts.more_of_100(results, one, base) for one in (bare, defended)]
        label = f"Cases of 100 in which the member is picked, more than with {name}"
        phrase = f"the member is picked in {{}} more of 100 cases than with {name}"
        if words.DASH not in cells:
            found.append(Change(label, phrase, True, *cells))
    return found


def _change(results: Results, bare: str, defended: str, metric: str) -> Row | None:
    """The change for the people whom the bare explanation answers; of several attacks the one that lowers it least."""
    rows = results.find(kind="change", explainer=defended, beside=bare, metric=metric)
    known = [row for row in rows if row.value is not None and row.low is not None and row.high is not None]
    return max(known, key=lambda row: row.high or 0.0, default=None)


def _signed(text: str) -> str:
    return text.replace("-", words.MINUS)


def _prices(results: Results, bare: str, defended: str) -> list[Change]:
    """What answers are worth before and after, where the defence has it measured."""
    found = []
    for metric, phrase in PRICES.items():
        before, after = (measured(results, name, metric) for name in (bare, defended))
        if after is not None:
            cells = [words.DASH if row is None else amount(row) for row in (before, after)]
            # A time has its unit in the cell, and it may be another one than seconds.
            label = TIME if metric == "seconds" else words.metric_name(metric)
            found.append(Change(label, phrase, False, *cells))
    return found


def measured(results: Results, explainer: str, metric: str) -> Row | None:
    """A measure of an explanation, or of the model where no explanation is named, on everybody."""
    rows = results.find(kind="measure", explainer=explainer, metric=metric, group="")
    return next((row for row in rows if row.value is not None), None)


def amount(row: Row) -> str:
    """A measure as a cell: a share in per cent, a time in its own unit.

    >>> amount(Row(kind="measure", metric="seconds", value=0.00024))
    '0.24 ms'
    """
    value = row.value or 0.0
    if row.metric != "seconds":
        return words.whole_percent(value)
    number, unit = (1000 * value, "ms") if value < 1 else (value, "s")
    return f"{number:.2g} {unit}" if number < 10 else f"{number:,.0f} {unit}"
