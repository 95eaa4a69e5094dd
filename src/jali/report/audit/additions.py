"""What explanations add to a prediction: paired differences put into a few sentences per baseline.

A sentence is about the attacks that were tried. Where they found nothing it says what this audit could have found, and
where the combined attack made no use of an explanation or did worse with it, that this says nothing about others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from jali.core.values import Channel
from jali.report import resolution, views, words
from jali.results import Results, Row

BASELINES = {Channel.SCORE: "the score alone", Channel.DECISION: "the bare decision"}
NOTHING = "No explanation was attacked beside a prediction, so nothing is said about what explanations add."
BADLY = "it combines badly"
MORAL = "An attacker may ignore what hurts: read this as no finding, not as protection"
# Differences are given at 1 % false positives where that is resolvable: at lower rates they drown in noise first.
METRICS = ("tpr@0.01", "tpr@0.001", "auc")
NAMED = 3  # explanations that are named in one sentence
Rows = Sequence[Row]


@dataclass(frozen=True)
class Sorted:
    """Differences in one metric by what can be said of them."""

    found: Rows  # the whole interval above zero
    open: Rows  # zero inside the interval
    worse: Rows  # the whole interval below zero
    unused: Rows  # the combined attack made no use of the explanation, or in few target models
    flat: Rows  # no spread, and so no interval
    bare: Rows  # a value without an interval
    gone: Rows  # no value


def additions(results: Results) -> tuple[str, ...]:
    """A few sentences over the score, a few over the decision.

    >>> additions(Results())
    ('No explanation was attacked beside a prediction, so nothing is said about what explanations add.',)
    """
    rows = [r for r in results.rows if r.kind == "contrast" and not r.group]
    sentences = []
    for against, name in BASELINES.items():
        mine = [r for r in rows if r.against == against]
        if mine:
            sentences.append(f"Compared with {name}, {_paragraph(results, mine)}.")
    return tuple(sentences) or (NOTHING,)


def sort(rows: Rows) -> Sorted:
    """Put each difference where it belongs; an explanation that adds by one attack is no longer in doubt by another."""
    kinds: dict[str, list[Row]] = {name: [] for name in Sorted.__dataclass_fields__}
    for row in rows:
        kinds[_kind(row)].append(row)
    adding = kinds.pop("found")
    return Sorted(adding, **{kind: _others(some, adding) for kind, some in kinds.items()})


def _kind(row: Row) -> str:
    if row.value is None:
        return "gone"
    if row.low is None or row.high is None:
        return "bare"
    if resolution.unused(row):
        return "unused"
    if row.low > 0:
        return "found"
    if row.high < 0:
        return "worse"
    if resolution.mostly_unused(row):
        return "unused"
    return "flat" if resolution.flat(row) else "open"


def _paragraph(results: Results, rows: Rows) -> str:
    """Sentences in this order: what was found, what was not, what cannot be said."""
    metric = next((m for m in METRICS if any(r.metric == m and r.value is not None for r in rows)), "")
    if not metric:
        return f"what the explanation adds could not be resolved: {_reason(rows[0])}"
    over = _Sentences(results, metric, tuple(rows))
    main = sort([r for r in rows if r.metric == metric])
    auc = sort([r for r in rows if r.metric == "auc"] if metric != "auc" else [])
    worse = [over.worse(main.worse), over.worse(_others(auc.worse, main.worse))]
    said = [
        over.found(main.found),
        over.in_auc(_others(auc.found, main.found)),
        *over.open(main.open, auc.open),
        *over.unused(main.unused),
        over.flat(main.flat),
        *(over.bare(row) for row in main.bare),
        *worse,
        MORAL if any(worse) else "",
        *(over.by_itself(row) for row in [*main.open, *main.unused, *main.flat, *main.worse]),
        over.gone(main.gone),
    ]
    first, *rest = filter(None, said)
    return ". ".join([first, *(sentence[0].upper() + sentence[1:] for sentence in rest)])


@dataclass(frozen=True)
class _Sentences:
    """What is said of the differences over one baseline, in one metric; no sentence begins with a name."""

    results: Results
    metric: str
    rows: tuple[Row, ...]

    @property
    def scope(self) -> str:
        """What the metric is read at."""
        return f" with {words.price(self.metric)}" if words.level(self.metric) else " in AUC"

    def who(self, rows: Rows) -> str:
        """The explanations by name, in their order; a single one needs none."""
        names = _names(rows)
        if len(_names(self.rows)) == 1:
            return "the explanation"
        return words.listed(names) if len(names) <= NAMED else f"{len(names)} explanations"

    def found(self, rows: Rows) -> str:
        """How much the explanations add, by the one that adds most."""
        if not rows:
            return ""
        best = max(rows, key=_value)
        mine = [r for r in self.rows if r.metric == "auc" != self.metric and r.explainer == best.explainer]
        same = [f"AUC {words.span_of(r)}" for r in mine if words.ends(r)]
        count = f"{_between(_low(best), _high(best), best)}{self._given(best, same[:1])}"
        found = len(_names(rows))
        tried = len(_names(self.rows))
        if tried == 1:
            return f"the explanation adds {count}"
        if found == 1:
            return f"1 of {tried} explanations adds: {best.explainer}, {count}"
        return f"{found} of {tried} explanations add, {best.explainer} most: {count}"

    def in_auc(self, rows: Rows) -> str:
        """A difference that shows in the AUC only must not be passed over."""
        spans = [words.span_of(r) + (f" with {r.explainer}" if len(_names(self.rows)) > 1 else "") for r in rows]
        return f"there is an addition in AUC: {words.listed(spans)}" if spans else ""

    def open(self, rows: Rows, auc: Rows) -> list[str]:
        """Nothing was found, and what could have been; or not by the combined attack, where another did find it."""
        better = [r for r in rows if self.rival(r) is not None]
        rest = _others(rows, better)
        return [
            f"{says} that {self.who(some)} {_verb(some, 'adds')} anything{self.scope}; {self._could(some, auc)}"
            for says, some in (("no attack tried found", rest), ("the combined attack did not find", better))
            if some
        ]

    def _could(self, rows: Rows, auc: Rows) -> str:
        """The most that had to be there over several explanations: so much would have been found with any of them."""
        found = [self._least(r) for r in rows]
        known = [x for x in found if x is not None]
        if len(known) < len(found):
            ranked = [r for r in auc if r.explainer in _names(rows)]
            there = [x for r in ranked if (x := self._least(r)) is not None and not math.isinf(x)]
            if self.metric != "auc" and len(there) == len(_names(rows)):
                return f"this audit could have found {words.number(max(there))} or more in AUC, {resolution.OFTEN}"
            return "this audit cannot say what it could have found"
        if math.inf in known:
            return "this audit could not have found any addition that is possible here"
        widest = rows[found.index(max(known))]
        mine = [self._least(r) for r in auc if r.explainer in _names(rows)]
        same = max((x for x in mine if x is not None), default=math.inf)
        also = "" if math.isinf(same) else f", or {words.number(same)} or more in AUC"
        name = widest.explainer if len(_names(rows)) > 1 else ""
        left = f"left out in {widest.unchanged} of {widest.units} models" if widest.unchanged else ""
        about = ", ".join(filter(None, [name, words.covered(widest), left]))
        said = f"this audit could have found {_count(max(known), widest)} or more{also}, {resolution.OFTEN}"
        return said + (f" ({about})" if about else "")

    def _least(self, row: Row) -> float | None:
        return resolution.addition_found(row, views.side(self.results, row, row.against))

    def unused(self, rows: Rows) -> list[str]:
        """A combination that chose nothing of the explanation, or hardly ever, says nothing about it."""
        never = [r for r in rows if resolution.unused(r)]
        out = [f"the combined attack made no use of {self.who(never)}, so {_unsaid(never)}"] if never else []
        for row in _others(rows, never):
            left = f"left {self.who([row])} out in {row.unchanged} of {row.units} models"
            out.append(f"the combined attack {left}, so {_unsaid([row])}")
        return out

    def flat(self, rows: Rows) -> str:
        """The same number with and without, on other grounds."""
        if not rows:
            return ""
        return (
            f"with {self.who(rows)} the combined attack achieves exactly what it does without{self.scope}, so this "
            "audit cannot say what it could have found"
        )

    def bare(self, row: Row) -> str:
        """A value alone."""
        if _value(row) > 0:
            said = f"with {self.who([row])} the combined attack gains about {_count(_value(row), row)}"
        else:
            said = f"no attack tried found that {self.who([row])} adds anything"
        return f"{said}; without an interval this audit cannot say what it could have found"

    def worse(self, rows: Rows) -> str:
        """What hurts the attack is the attack's fault."""
        if not rows:
            return ""
        nearest, furthest = max(rows, key=_high), min(rows, key=_low)
        by = f"{_between(-_high(nearest), -_low(furthest), nearest)}{self._given(nearest, [], len(rows) == 1)}"
        return f"with {self.who(rows)} the combined attack does worse, by {by}: {BADLY}"

    def by_itself(self, row: Row) -> str:
        """An attack on the explanation alone that does better than the baseline shows what the combination missed."""
        best, baseline = self.rival(row), views.side(self.results, row, row.against)
        if best is None or baseline is None:
            return ""
        signal = f" on {best.signal}" if best.signal and not best.combined else ""
        tried = len(views.alone(self.results, row))
        chosen = f" (the best of {tried} such attacks, chosen afterwards)" if tried > 1 else ""
        return (
            f"seeing {self.who([row])} alone, {best.attack}{signal} reaches {_between(_low(best), _high(best), best)}, "
            f"where {self.baseline(row)} gives {_number(_value(baseline), row)} for the same people{chosen}"
        )

    def baseline(self, row: Row) -> str:
        """What the attacker sees without the explanation."""
        return "" if row.against is None else BASELINES[row.against]

    def rival(self, row: Row) -> Row | None:
        """The strongest attack on the explanation alone, if its whole interval lies above baseline and chance."""
        baseline = views.side(self.results, row, row.against)
        if baseline is None or baseline.value is None:
            return None
        level = words.level(row.metric)
        least = max(baseline.value, 0.5 if level is None else level)
        above = [r for r in views.alone(self.results, row) if r.low is not None and r.low > least]
        return max(above, key=_value, default=None)

    def gone(self, rows: Rows) -> str:
        """What has no value, and why."""
        if not rows:
            return ""
        return f"what {self.who(rows)} {_verb(rows, 'adds')} could not be resolved: {_reason(rows[0])}"

    def _given(self, row: Row, same: Sequence[str], both: bool = True) -> str:
        """In brackets: at what price, on which part of the people, both sides on them, and the same in AUC."""
        price = f"with {words.price(row.metric)}" if words.level(row.metric) else ""
        head = ", ".join(filter(None, [price, words.covered(row)]))
        ends = [views.side(self.results, row, channel) for channel in (row.against, row.channel)]
        values = [r.value for r in ends if r is not None and r.value is not None]
        sides = ""
        if both and len(values) == 2:
            sides = f"{_number(values[0], row)} without and {_number(values[1], row)} with it, for the same people"
        parts = [part for part in (head, sides, *same) if part]
        return f" ({'; '.join(parts)})" if parts else ""


def _unsaid(rows: Rows) -> str:
    return f"this audit cannot say what {'it adds' if len(_names(rows)) == 1 else 'they add'}"


def _reason(row: Row) -> str:
    return (row.reason or "no reason recorded").rstrip(".")


def _others(rows: Rows, known: Rows) -> list[Row]:
    return [r for r in rows if r.explainer not in _names(known)]


def _names(rows: Rows) -> list[str]:
    """Whose explanations these are, each once, in their order."""
    return list(dict.fromkeys(r.explainer for r in rows))


def _verb(rows: Rows, verb: str) -> str:
    return verb if len(_names(rows)) == 1 else verb.removesuffix("s")


def _between(low: float, high: float, row: Row) -> str:
    if _number(low, row) == _number(high, row):
        return f"about {_count(high, row)}"
    return f"between {_number(low, row)} and {_count(high, row)}"


def _number(x: float, row: Row) -> str:
    return words.per_thousand(x) if words.level(row.metric) else words.number(x)


def _count(x: float, row: Row) -> str:
    return _number(x, row) + (" in 1,000" if words.level(row.metric) else f" in {words.metric_name(row.metric)}")


def _value(row: Row) -> float:
    return row.value or 0.0


def _low(row: Row) -> float:
    return row.low or 0.0


def _high(row: Row) -> float:
    return row.high or 0.0
