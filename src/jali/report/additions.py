"""What explanations add to a prediction: paired differences put into one sentence per baseline."""

from __future__ import annotations

from collections.abc import Sequence

from jali.report import words
from jali.results import Results, Row

BASELINES = {"score": "the score alone", "decision": "the bare decision"}
NOTHING = "No explanation was attacked beside a prediction, so nothing is said about what explanations add."
# Differences are told at 1 % false positives where that is resolvable: at lower rates they drown in noise first.
METRICS = ("tpr@0.01", "tpr@0.001", "auc")
Rows = Sequence[Row]


def additions(results: Results) -> tuple[str, ...]:
    """One sentence over the score, one over the decision.

    >>> additions(Results())
    ('No explanation was attacked beside a prediction, so nothing is said about what explanations add.',)
    """
    rows = [r for r in results.rows if r.kind == "contrast" and not r.group]
    told = [_sentence([r for r in rows if r.against == against], name) for against, name in BASELINES.items()]
    return tuple(sentence for sentence in told if sentence) or (NOTHING,)


def _sentence(rows: Rows, baseline: str) -> str:
    if not rows:
        return ""
    for metric in METRICS:
        pool = [r for r in rows if r.metric == metric]
        if any(r.value is not None for r in pool):
            auc = [r for r in rows if r.metric == "auc" and words.ends(r)] if metric != "auc" else []
            return f"Over {baseline}, {_told(pool, auc)}{_unknown(pool)}."
    why = (rows[0].reason or "no reason recorded").rstrip(".")
    return f"Over {baseline}, what the explanation adds could not be resolved: {why}."


def _told(pool: Rows, auc: Rows) -> str:
    """The verdict over all explanations: measurable, without an interval, worse, left out, or bounded from above."""
    bounded = [r for r in pool if words.ends(r)]
    clear = [r for r in bounded if _low(r) > 0]
    also = _also([r for r in auc if r.explainer not in {c.explainer for c in clear}])
    if clear:
        return _measurable(pool, clear, auc) + also
    if not bounded:
        best = max((r for r in pool if r.value is not None), key=_value)
        return f"{_one(pool, best)} adds about {_count(_value(best), best)}, without an interval"
    if all(r.value == r.low == r.high == 0 for r in bounded):
        return f"{_none(pool)}: tried on the attacker's own models first, its signals did not help and were left out"
    if all(_high(r) < 0 for r in bounded):
        return _worse(pool, bounded) + also
    return _limit(pool, bounded, auc) + also


def _measurable(pool: Rows, clear: Rows, auc: Rows) -> str:
    best = max(clear, key=_value)
    same = [f"AUC {words.span_of(r)}" for r in auc if r.explainer == best.explainer]
    count = f"between {_number(_low(best), best)} and {_count(_high(best), best)}{_given(best, same[:1])}"
    names, found = _names(pool), _names(clear)
    if len(names) == 1:
        return f"the explanation adds {count}"
    if len(found) == 1:
        return f"1 of {len(names)} explanations adds measurably: {best.explainer}, {count}"
    return f"{len(found)} of {len(names)} explanations add measurably, {best.explainer} most: {count}"


def _limit(pool: Rows, bounded: Rows, auc: Rows) -> str:
    """The highest upper end over all explanations, not that of the largest value: no interval reaches further."""
    widest, several = max(bounded, key=_high), len(_names(pool)) > 1
    same = []
    if auc and not any(_low(r) > 0 for r in auc):
        top = max(auc, key=_high)
        whose = f", {top.explainer}" if top.explainer != widest.explainer else ""
        same = [f"AUC at most {words.ends(top)[1]}{whose}"]
    given = _given(widest, same, widest.explainer if several else "")
    return f"{_none(pool)} measurable: at most {_count(_high(widest), widest)}{given}"


def _worse(pool: Rows, bounded: Rows) -> str:
    nearest, furthest = max(bounded, key=_high), min(bounded, key=_low)
    span = f"between {_number(-_high(nearest), nearest)} and {_count(-_low(furthest), furthest)}{_given(nearest, [])}"
    return f"{_none(pool)}: with {'any of them' if len(_names(pool)) > 1 else 'it'} the attack does worse by {span}"


def _also(auc: Rows) -> str:
    """A difference that shows in the AUC only must not be passed over."""
    clear = [f"{r.explainer} {words.span_of(r)}" for r in auc if _low(r) > 0]
    return f"; measurable in AUC only: {', '.join(clear)}" if clear else ""


def _unknown(pool: Rows) -> str:
    names = _names(pool)
    resolved = _names([r for r in pool if r.value is not None])
    gone, bare = names - resolved, resolved - _names([r for r in pool if words.ends(r)])
    parts = [f"; not resolvable for {len(gone)} of {len(names)}"] if gone else []
    return "".join(
        [*parts, f"; without an interval for {len(bare)} of {len(names)}" if bare != resolved and bare else ""]
    )


def _given(row: Row, same: Sequence[str], name: str = "") -> str:
    """In brackets: whose explanation, at what price, on which part of the people, and the same in AUC."""
    price = f"at {words.price(row.metric)}" if words.level(row.metric) else ""
    parts = "; ".join([*filter(None, [", ".join(filter(None, [name, price, words.covered(row)]))]), *same])
    return f" ({parts})" if parts else ""


def _one(pool: Rows, row: Row) -> str:
    return "the explanation" if len(_names(pool)) == 1 else f"the explanation with the largest value ({row.explainer})"


def _none(pool: Rows) -> str:
    return "the explanation adds nothing" if len(_names(pool)) == 1 else "no explanation adds anything"


def _names(rows: Rows) -> set[str]:
    return {r.explainer for r in rows}


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
