"""What an explanation adds to membership inference, in one sentence for each prediction that the attacker may see.

Only an addition that the positive control would have found may sound reassuring, and only where no attack of any kind
found one: not in another metric, not on the explanation alone, not by querying it.
"""

from __future__ import annotations

import math

from jali.core.values import Channel
from jali.report import resolution, views, words
from jali.report.audit import detection_limits
from jali.report.audit.findings import Finding, Harm
from jali.report.audit.paired_differences import Sentences, kind_of
from jali.results import Results, Row

BASES = {Channel.DECISION: "the decision alone", Channel.SCORE: "the score"}
RATES = ("tpr@0.01", "tpr@0.001")
TOO_SMALL = "too small to tell"


def findings(results: Results, explainer: str) -> list[Finding]:
    """What was found beside each prediction, the decision alone first, and by querying the explanation."""
    found = [one for base in BASES if (one := added(results, explainer, base)) is not None]
    given = [one for one in [_given(results, explainer)] if one is not None]
    asked = [one for one in [_queried(results, explainer)] if one is not None]
    if given or asked:  # an attack that found something limits what may be said of the others
        rest = [one for one in found if one.harm != Harm.NONE]
        first = [one for one in rest if one.harm == Harm.MEMBERSHIP]
        found = [*first, *given, *(one for one in rest if one.harm != Harm.MEMBERSHIP), *asked]
    if len(found) == len(BASES) and all(one.harm == Harm.OPEN for one in found):
        row = contrast(results, explainer, Channel.SCORE, "auc")
        people = "" if row is None else _people(row)
        return [Finding(Harm.OPEN, f"What it adds to {' or '.join(BASES.values())}: {TOO_SMALL}{people}.")]
    return found


def most(results: Results, explainer: str) -> float:
    """The largest addition in AUC that was found for an explanation."""
    rows = [contrast(results, explainer, base, "auc") for base in BASES]
    return max((row.value or 0.0 for row in rows if row is not None and is_found(row)), default=0.0)


def is_found(row: Row) -> bool:
    """Whether the whole interval of a difference lies above zero and has a width."""
    return kind_of(row) == "found" and not resolution.flat(row)


def contrast(results: Results, explainer: str, base: Channel, metric: str) -> Row | None:
    """The paired difference of an explanation over a prediction in one metric.

    Of several attacks, the one that surely found most; where none found anything, the one that limits least.
    """
    rows = results.find(kind="contrast", explainer=explainer, against=base, metric=metric, group="")
    known = [row for row in rows if row.value is not None]
    found = [row for row in known if is_found(row)]
    if found:
        return max(found, key=lambda row: row.low or 0.0)
    return max(known, key=_leaves_open, default=None)


def _leaves_open(row: Row) -> float:
    return math.inf if row.detectable is None or row.high is None else max(row.high, row.detectable)


def added(results: Results, explainer: str, base: Channel) -> Finding | None:
    """One sentence on what an explanation adds to one prediction; None where that was not measured at all."""
    rows = results.find(kind="contrast", explainer=explainer, against=base, group="")
    if not rows:
        return None
    auc = contrast(results, explainer, base, "auc")
    rates = [row for metric in RATES if (row := contrast(results, explainer, base, metric)) is not None]
    found = [row for row in rates if is_found(row)]
    beside = f"Beside {BASES[base]} it"
    if found:
        also = f" ({words.span_of(auc)} AUC)" if auc is not None and is_found(auc) else ""
        counted = _counted(results, found[0])
        return Finding(Harm.MEMBERSHIP, f"{beside} helps to recognise members{also}: {counted}{_people(found[0])}.")
    if auc is None:
        return Finding(Harm.OPEN, f"What it adds to {BASES[base]} could not be resolved.")
    if is_found(auc):
        return Finding(
            Harm.MEMBERSHIP, f"{beside} adds {words.span_of(auc)} AUC to membership inference{_people(auc)}."
        )
    return _not_found(results, rows, auc, base)


def _not_found(results: Results, rows: list[Row], auc: Row, base: Channel) -> Finding:
    """What is said where no addition was found; only a bounded one may sound reassuring."""
    over = Sentences(results, "auc", tuple(rows))
    judged = [row for row in rows if row.metric in ("auc", *RATES)]
    known = detection_limits.limit(results, auc)
    settled = _availability_is_settled(results, auc, known.found)

    def rivals(tried: int) -> list[Row]:
        some = [rival for row in judged if (rival := over.rival(row, tried)) is not None]
        return [rival for rival in some if not (settled and over.is_whether_answered(rival))]

    certain = rivals(sum(len(views.alone(results, row)) for row in judged))
    if certain:
        return Finding(Harm.MEMBERSHIP, _rivalled(over, certain, base, _people(auc)))
    if rivals(1):  # the best of many may be luck; but what any attack contradicts must not sound reassuring
        return Finding(Harm.OPEN, f"What it adds to {BASES[base]}: {TOO_SMALL}{_people(auc)}.")
    if kind_of(auc) == "open" and known.kind == "bounded":
        less = f"less than {words.above(known.found)} AUC to membership inference"
        said = f"Beside {BASES[base]} it adds {less}, for the attacks tried{_people(auc)}."
        few = _few_members(rows)
        return Finding(Harm.OPEN if few else Harm.NONE, f"{said}{few}")
    return Finding(Harm.OPEN, f"What it adds to {BASES[base]}: {TOO_SMALL}{_people(auc)}.")


def _availability_is_settled(results: Results, auc: Row, less_than: float) -> bool:
    """Whether it was found, or found to be less than so much, what it adds whether an explanation is given at all."""
    rows = results.find(kind="availability", explainer=auc.explainer, against=auc.against, metric="auc", group="")
    return bool(rows) and all(is_found(row) or (row.high is not None and row.high <= less_than) for row in rows)


def _rivalled(over: Sentences, rivals: list[Row], base: Channel, people: str) -> str:
    """What is said where the combined attack misses what an attack on the explanation alone sees."""
    said = f"Beside {BASES[base]} it was not found to add anything"
    if base is Channel.SCORE and all(over.is_whether_answered(rival) for rival in rivals):
        return (
            f"{said}{people}, yet whether it is given at all separates members better than {BASES[Channel.DECISION]}."
        )
    return f"{said}, yet by itself it separates members better than {BASES[base]}{people}."


def _given(results: Results, explainer: str) -> Finding | None:
    """What it tells about membership whether the explanation is given at all; None where nothing was found."""
    for metric in ("auc", *RATES):
        rows = results.find(kind="availability", explainer=explainer, metric=metric, group="")
        adds = {row.against: row for row in rows if is_found(row)}
        if adds:
            said = [f"{words.span_of(adds[base])} to {BASES[base]}" for base in BASES if base in adds]
            unit = "AUC" if metric == "auc" else f"of the members recognised with {words.price(metric)}"
            scope = f"in membership inference ({unit}, over everybody)"
            return Finding(Harm.MEMBERSHIP, f"Whether it is given at all adds {words.listed(said)} {scope}.")
    return None


def _few_members(rows: list[Row]) -> str:
    """What a small AUC leaves open: a few members who are recognised for certain. Empty where the interval is narrow.

    If a share s of the members is recognised, the AUC rises by no more than s. The positive control plants its
    additions in AUC, so nothing is said of a rate but its interval, and where that is wide nothing sounds reassuring.

    >>> _few_members([Row(kind="contrast", metric="tpr@0.01", value=0.0, low=-0.03, high=0.04)])
    ' With ten people in 1,000 wrongly flagged, up to 40 more of 1,000 members lie within the interval: too small to tell.'
    """  # noqa: E501
    rates = [row for row in rows if row.metric == RATES[0]]
    if not rates:
        return ""
    price = f" With {words.price(RATES[0])}"
    ends = [row.high for row in rates if row.value is not None and row.high is not None]
    if not ends:
        return f"{price}, what it adds could not be resolved: {TOO_SMALL}."
    if max(ends) <= resolution.SMALL:
        return ""
    more = words.per_thousand(max(ends))
    return f"{price}, up to {more} more of 1,000 members lie within the interval: {TOO_SMALL}."


def _queried(results: Results, explainer: str) -> Finding | None:
    """What the strongest attack on membership that queries the explanation, such as a surrogate, achieved."""
    rows = results.find(
        kind="query attack", learns="membership", metric="auc", explainer=explainer, group="", target=None
    )
    found = [row for row in rows if row.value is not None and row.low is not None and row.low > 0.5]
    if not found:
        return None
    row = max(found, key=lambda one: one.low or 0.0)
    said = f"By querying it, {row.attack} tells members from non-members with AUC {words.span_of(row)}"
    chosen = f", the strongest of {len(rows)} such attacks" if len(rows) > 1 else ""
    return Finding(Harm.MEMBERSHIP, f"{said}{chosen}.")


def _counted(results: Results, row: Row) -> str:
    """So many of 1,000 members instead of so many, at which price."""
    sides = [views.side(results, row, channel) for channel in (row.against, row.channel)]
    values = [side.value for side in sides if side is not None and side.value is not None]
    price = words.price(row.metric)
    if len(values) < 2:
        ends = " to ".join(words.per_thousand(end) for end in (row.low, row.high) if end is not None)
        return f"{ends} of 1,000 more, with {price}"
    without, with_it = (words.per_thousand(value) for value in values)
    return f"{with_it} of 1,000 instead of {without}, with {price}"


def _people(row: Row) -> str:
    return f" ({words.covered(row)})" if words.covered(row) else ""
