"""What explanations add to a prediction: paired differences put into a few sentences per baseline.

A sentence is about the attacks that were tried. Where they found nothing it says, in AUC, what this audit would have
found (`limits`); where the combined attack did worse with an explanation, that this says nothing about others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jali.core.values import Channel
from jali.report import resolution, views, words
from jali.report.audit import detection_limits
from jali.report.audit.detection_limits import BASELINES, UNKNOWN
from jali.results import Results, Row

NOTHING = "No explanation was attacked beside a prediction, so nothing is said about what explanations add."
BADLY = "it combines badly"
MORAL = "An attacker may ignore what hurts: read this as no finding, not as protection"
# Differences are given at 1 % false positives where that is resolvable: at lower rates they drown in noise first.
METRICS = ("tpr@0.01", "tpr@0.001", "auc")
# What is known of an addition that was not found, where no limit in AUC is.
ADDED = "added"  # there is an addition in AUC
NO_LIMIT = "no limit"  # the difference in AUC says nothing
NAMED = 3  # explanations that are named in one sentence
Rows = Sequence[Row]


@dataclass(frozen=True)
class Sorted:
    """Differences in one metric by what can be said of them."""

    found: Rows  # the whole interval above zero
    open: Rows  # zero inside the interval
    worse: Rows  # the whole interval below zero
    unused: Rows  # no interval, because the combined attack made no use of the explanation
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
            sentences.append(f"Compared with {name}, {_paragraph(results, mine)}.{_given(results, against)}")
    return tuple(sentences) or (NOTHING,)


def _given(results: Results, against: Channel) -> str:
    """A sentence on explanations that tell something by whether they are given at all; empty where none does."""
    for metric in ("auc", *METRICS):
        rows = results.find(kind="availability", against=against, metric=metric, group="")
        spans = [f"{words.span_of(r)} with {r.explainer}" for r in rows if kind_of(r) == "found"]
        if spans:
            name = words.metric_name(metric)
            return f" Whether an explanation is given at all adds to {name}, over everybody: {words.listed(spans)}."
    return ""


def sort(rows: Rows) -> Sorted:
    """Put each difference where it belongs; an explanation that adds by one attack is no longer in doubt by another."""
    kinds: dict[str, list[Row]] = {name: [] for name in Sorted.__dataclass_fields__}
    for row in rows:
        kinds[kind_of(row)].append(row)
    adding = kinds.pop("found")
    return Sorted(adding, **{kind: _others(some, adding) for kind, some in kinds.items()})


def kind_of(row: Row) -> str:
    """What can be said of one difference, as a field of `Sorted`."""
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
    return "flat" if resolution.flat(row) else "open"


def _paragraph(results: Results, rows: Rows) -> str:
    """Sentences in this order: what was found, what was not, what cannot be said."""
    metric = next((m for m in METRICS if any(r.metric == m and r.value is not None for r in rows)), "")
    if not metric:
        return f"what the explanation adds could not be resolved: {_reason(rows[0])}"
    over = Sentences(results, metric, tuple(rows))
    main = sort([r for r in rows if r.metric == metric])
    auc = sort([r for r in rows if r.metric == "auc"] if metric != "auc" else [])
    ranked = [r for r in auc.open if r.explainer in _names([*main.unused, *main.flat, *main.worse, *main.gone])]
    worse = [over.worse(main.worse), over.worse(_others(auc.worse, main.worse))]
    hurt = [r for r in [*main.worse, *auc.worse] if r.metric == "auc"]
    said = [
        over.found(main.found),
        over.in_auc(_others(auc.found, main.found)),
        *over.open(main.open),
        *over.open(ranked),
        over.unused(_others(main.unused, ranked)),
        over.flat(_others(main.flat, ranked)),
        *(over.bare(row) for row in main.bare),
        *worse,
        "; ".join([MORAL, *over.too_small(hurt)]) if any(worse) else "",
        *(over.by_itself(row) for row in _once([*main.open, *ranked, *main.unused, *main.flat, *main.worse])),
        over.gone(main.gone),
    ]
    first, *rest = filter(None, said)
    return ". ".join([first, *(sentence[0].upper() + sentence[1:] for sentence in rest)])


@dataclass(frozen=True)
class Sentences:
    """What is said of the differences over one baseline, in one metric; no sentence begins with a name."""

    results: Results
    metric: str
    rows: tuple[Row, ...]

    @property
    def scope(self) -> str:
        """What the metric is read at."""
        return _scope(self.metric)

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

    def open(self, rows: Rows) -> list[str]:
        """Nothing was found: a sentence for each thing that the differences in AUC let this audit say."""
        cases: dict[tuple[bool, str, str], list[Row]] = {}
        for row in rows:
            cases.setdefault((self.rivalled(row) is not None, *self._case(row)), []).append(row)
        return [self._not_found(rival, kind, some) for (rival, kind, _), some in cases.items()]

    def _case(self, row: Row) -> tuple[str, str]:
        """What is known of an explanation whose addition was not found, and why that is nothing."""
        kinds = {kind_of(r) for r in self._ranked(row)}
        if kinds != {"open"}:
            return (ADDED if "found" in kinds else NO_LIMIT), ""
        known = self._limit(row)
        return known.kind, known.reason

    def _not_found(self, rival: bool, kind: str, rows: Rows) -> str:
        """One sentence on explanations of which the same is known."""
        says = "the combined attack did not find" if rival else "no attack tried found"
        said = f"{says} that {self.who(rows)} {_verb(rows, 'adds')} anything{_scope(rows[0].metric)}"
        if kind == ADDED:
            return f"{said}; what could have been found there is not known"
        if kind == NO_LIMIT:
            return f"{said}; {UNKNOWN}"
        said += "" if rows[0].metric == "auc" else " or in AUC"
        if rival and kind == "bounded":  # an attack that misses what another one sees limits nothing
            return f"{said}, so {_unsaid(rows)}"
        return f"{said}; {detection_limits.clause([self._limit(row) for row in _once(rows)])}"

    def _ranked(self, row: Row) -> list[Row]:
        """The differences in AUC of the same explanation."""
        return [r for r in self.rows if r.metric == "auc" and r.explainer == row.explainer]

    def _limit(self, row: Row) -> detection_limits.Limit:
        """What the difference in AUC says, by the attack that says least where there are several."""
        return max((detection_limits.limit(self.results, r) for r in self._ranked(row)), key=lambda x: x.found)

    def unused(self, rows: Rows) -> str:
        """A combination that chose nothing of the explanation, and was not made to, says nothing about it."""
        return f"the combined attack made no use of {self.who(rows)}, so {_unsaid(rows)}" if rows else ""

    def flat(self, rows: Rows) -> str:
        """The same number with and without, on other grounds."""
        if not rows:
            return ""
        return (
            f"with {self.who(rows)} the combined attack achieves exactly what it does without{self.scope}, so {UNKNOWN}"
        )

    def bare(self, row: Row) -> str:
        """A value alone."""
        if _value(row) > 0:
            said = f"with {self.who([row])} the combined attack gains about {_count(_value(row), row)}"
        else:
            said = f"no attack tried found that {self.who([row])} adds anything"
        return f"{said}; without an interval {UNKNOWN}"

    def worse(self, rows: Rows) -> str:
        """What hurts the attack is the attack's fault."""
        if not rows:
            return ""
        nearest, furthest = max(rows, key=_high), min(rows, key=_low)
        by = f"{_between(-_high(nearest), -_low(furthest), nearest)}{self._given(nearest, [], len(rows) == 1)}"
        return f"with {self.who(rows)} the combined attack does worse, by {by}: {BADLY}"

    def too_small(self, rows: Rows) -> list[str]:
        """Where the attack does worse in AUC no limit is claimed, but that the audit is too small is said."""
        weak: dict[str, list[Row]] = {}
        for row in rows:
            weak.setdefault(self._limit(row).kind, []).append(row)
        return [
            detection_limits.clause(
                [self._limit(r) for r in _once(some)], f" what {self.who(some)} {_verb(some, 'adds')}"
            )
            for kind, some in weak.items()
            if kind in ("small", "blind")
        ]

    def by_itself(self, row: Row) -> str:
        """An attack on the explanation alone that does better than the baseline shows what the combination missed."""
        mine = self.rivalled(row)
        best = None if mine is None else self.rival(mine)
        baseline = None if mine is None else views.side(self.results, mine, mine.against)
        if mine is None or best is None or baseline is None:
            return ""
        signal = f" on {best.signal}" if best.signal and not best.combined else ""
        if self.is_whether_answered(best) and row.against is Channel.SCORE:
            return (
                f"whether {self.who([row])} is given at all tells more than the bare decision: {best.attack}{signal} "
                f"reaches {_between(_low(best), _high(best), best)}, and what that adds to the score was not measured"
            )
        tried = len(views.alone(self.results, mine))
        chosen = f" (the best of {tried} such attacks, chosen afterwards)" if tried > 1 else ""
        return (
            f"seeing {self.who([row])} alone, {best.attack}{signal} reaches {_between(_low(best), _high(best), best)}, "
            f"where {self.baseline(row)} gives {_number(_value(baseline), best)} for the same people{chosen}"
        )

    def baseline(self, row: Row) -> str:
        """What the attacker sees without the explanation."""
        return "" if row.against is None else BASELINES[row.against]

    def rivalled(self, row: Row) -> Row | None:
        """The difference, in the metric or else in AUC, whose baseline an attack on the explanation alone surpasses."""
        first = [r for r in self.rows if r.metric == self.metric and r.explainer == row.explainer]
        return next((r for r in [*first, *self._ranked(row)] if self.rival(r) is not None), None)

    def rival(self, row: Row, tried: int = 1) -> Row | None:
        """The strongest attack on the explanation alone whose whole interval lies above what it must surpass.

        tried: of how many attacks it may be the best by chance.
        """
        baseline = views.side(self.results, row, row.against)
        if baseline is None or baseline.value is None:
            return None
        known = [r for r in views.alone(self.results, row) if r.low is not None]
        above = [r for r in known if resolution.low_of_best(r, tried) > self._least(r, row, baseline)]
        return max(above, key=_value, default=None)

    def _least(self, attack: Row, row: Row, baseline: Row) -> float:
        """What an attack on the explanation alone must surpass: chance and the baseline.

        Who gets an answer follows from the decision, if anything, and a score beside it was judged on those with an
        answer only: there the decision is what it must surpass.
        """
        level = words.level(row.metric)
        chance = 0.5 if level is None else level
        if row.against is not Channel.SCORE or not self.is_whether_answered(attack):
            return max(chance, _value(baseline))
        about = {"kind": "attack", "channel": Channel.DECISION, "explainer": "", "group": "", "target": None}
        return max([chance, *(_value(r) for r in self.results.find(metric=row.metric, **about))])

    @staticmethod
    def is_whether_answered(attack: Row) -> bool:
        """Whether an attack reads nothing of an explanation but that there is one."""
        return attack.channel is Channel.DECISION and bool(attack.explainer)

    def gone(self, rows: Rows) -> str:
        """What has no value, and why."""
        if not rows:
            return ""
        known = [r for r in self.rows if r.explainer in _names(rows) and r.metric == "auc" and r.value is not None]
        scope = self.scope if known else ""
        return f"what {self.who(rows)} {_verb(rows, 'adds')}{scope} could not be resolved: {_reason(rows[0])}"

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


def _scope(metric: str) -> str:
    return f" with {words.price(metric)}" if words.level(metric) else " in AUC"


def _unsaid(rows: Rows) -> str:
    return f"this audit cannot say what {'it adds' if len(_names(rows)) == 1 else 'they add'}"


def _reason(row: Row) -> str:
    return (row.reason or "no reason recorded").rstrip(".")


def _others(rows: Rows, known: Rows) -> list[Row]:
    return [r for r in rows if r.explainer not in _names(known)]


def _once(rows: Rows) -> list[Row]:
    """The first row of each explanation."""
    return [row for k, row in enumerate(rows) if row.explainer not in _names(rows[:k])]


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
