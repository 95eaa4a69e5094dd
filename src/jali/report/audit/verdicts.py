"""One verdict for each explanation, ranked by harm: a false claim, people named, values given away, membership."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from jali.core.values import Channel
from jali.report import views, words
from jali.report.audit import detection_limits
from jali.report.audit.paired_differences import Sentences, kind_of
from jali.results import Results, Row

NAMED = 0.01  # of all answers: people count as named where more than that surely lead to the right person
BASES = {Channel.DECISION: "the decision alone", Channel.SCORE: "the score"}
TOO_SMALL = "too small to tell"


class Harm(IntEnum):
    """What was found, the worst first."""

    CLAIM = 0
    IDENTITY = 1
    ATTRIBUTES = 2
    MEMBERSHIP = 3
    OPEN = 4
    NONE = 5


TAGS = {
    Harm.CLAIM: "false privacy claim",
    Harm.IDENTITY: "names people",
    Harm.ATTRIBUTES: "gives values away",
    Harm.MEMBERSHIP: "helps to infer membership",
    Harm.OPEN: f"membership: {TOO_SMALL}",
    Harm.NONE: "no addition found",
}


@dataclass(frozen=True)
class Verdict:
    """What was found of one explanation; the first sentence says the worst of it."""

    explainer: str
    harm: Harm
    sentences: tuple[str, ...]

    @property
    def tag(self) -> str:
        """The verdict in a few words."""
        return TAGS[self.harm]


def verdicts(results: Results) -> list[Verdict]:
    """A verdict for each explanation, the worst first.

    >>> verdicts(Results())
    []
    """
    found = [verdict(results, name) for name in explainers(results)]
    return sorted(found, key=lambda v: (v.harm, -_most(results, v.explainer)))


def _most(results: Results, explainer: str) -> float:
    """The largest addition in AUC that was found for an explanation."""
    rows = [contrast(results, explainer, base, "auc") for base in BASES]
    return max((row.value or 0.0 for row in rows if row is not None and kind_of(row) == "found"), default=0.0)


def explainers(results: Results) -> list[str]:
    """The explanations of an audit, each once, in their order."""
    return list(dict.fromkeys(row.explainer for row in results.rows if row.explainer))


def verdict(results: Results, explainer: str) -> Verdict:
    """What was found of one explanation."""
    claims = [(Harm.CLAIM, given.refuted) for given in results.guarantees if given.refuted and given.what == explainer]
    found = [*claims, *_identity(results, explainer), *membership(results, explainer)]
    if not found:
        return Verdict(explainer, Harm.OPEN, ("Nothing was measured that says what it gives away.",))
    found.sort(key=lambda pair: pair[0])
    return Verdict(explainer, found[0][0], tuple(sentence for _, sentence in found))


def best(results: Results, explainer: str, metric: str) -> Row | None:
    """What the query attack on an explanation that reached most reached in a metric."""
    rows = results.find(kind="query attack", explainer=explainer, metric=metric, group="", target=None)
    known = [row for row in rows if row.value is not None]
    return max(known, key=lambda row: row.value or 0.0, default=None)


def of_100(row: Row) -> str:
    """A share as so many of 100, with its interval where there is one.

    >>> of_100(Row(kind="query attack", metric="reidentified", value=0.92, low=0.871, high=0.98))
    '87 to 98'
    """
    if row.low is None or row.high is None:
        return f"about {100 * (row.value or 0.0):.0f}"
    low, high = (f"{100 * min(max(end, 0.0), 1.0):.0f}" for end in (row.low, row.high))
    return low if low == high else f"{low} to {high}"


def _identity(results: Results, explainer: str) -> list[tuple[Harm, str]]:
    """Who is found by linkage, and what is then learnt about them."""
    right = best(results, explainer, "reidentified")
    if right is None:
        return []
    surely = (right.low if right.low is not None else right.value) or 0.0
    said = f"{of_100(right)} of 100 answers lead to the right person"
    gain = best(results, explainer, "disclosure_advantage")
    known = best(results, explainer, "disclosed")
    learnt = _learnt(gain, known)
    if surely > NAMED:
        return [(Harm.IDENTITY, f"{said[0].upper()}{said[1:]}{f'; {learnt}' if learnt else ''}.")]
    if gain is not None and gain.low is not None and gain.low > 0:
        return [(Harm.ATTRIBUTES, f"{learnt[0].upper()}{learnt[1:]}.")]
    return [(Harm.NONE, f"No attack tried could name people: {said}.")]


def _learnt(gain: Row | None, known: Row | None) -> str:
    """How much more the attacker then knows of that person."""
    if gain is None or gain.low is None or gain.low <= 0 or known is None or known.value is None:
        return ""
    before = known.value - (gain.value or 0.0)
    return (
        f"the attacker then knows {words.percent(known.value, 0)} % of that person's other values, "
        f"against {words.percent(before, 0)} % without the answer"
    )


def membership(results: Results, explainer: str) -> list[tuple[Harm, str]]:
    """What an explanation adds to each prediction that the attacker may see, the decision alone first."""
    found = [one for base in BASES if (one := _added(results, explainer, base)) is not None]
    if len(found) == len(BASES) and all(harm == Harm.OPEN for harm, _ in found):
        row = contrast(results, explainer, Channel.SCORE, "auc")
        people = f" ({words.covered(row)})" if row is not None and words.covered(row) else ""
        return [(Harm.OPEN, f"What it adds to {' or '.join(BASES.values())}: {TOO_SMALL}{people}.")]
    return found


def contrast(results: Results, explainer: str, base: Channel, metric: str) -> Row | None:
    """The paired difference of an explanation over a prediction in one metric; of several attacks, the largest."""
    rows = results.find(kind="contrast", explainer=explainer, against=base, metric=metric, group="")
    known = [row for row in rows if row.value is not None]
    return max(known, key=lambda row: row.value or 0.0, default=None)


def _added(results: Results, explainer: str, base: Channel) -> tuple[Harm, str] | None:
    """One sentence on what an explanation adds to one prediction."""
    auc = contrast(results, explainer, base, "auc")
    rate = contrast(results, explainer, base, "tpr@0.01")
    some = auc if auc is not None else rate
    if some is None:
        return None
    beside = f"Beside {BASES[base]} it"
    people = f" ({words.covered(some)})" if words.covered(some) else ""
    if rate is not None and kind_of(rate) == "found":
        also = f" ({words.span_of(auc)} AUC)" if auc is not None and kind_of(auc) == "found" else ""
        return Harm.MEMBERSHIP, f"{beside} helps to recognise members{also}: {_counted(results, rate)}{people}."
    if auc is not None and kind_of(auc) == "found":
        return Harm.MEMBERSHIP, f"{beside} adds {words.span_of(auc)} AUC to membership inference{people}."
    return _not_found(results, explainer, base, auc, beside, people)


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


def _not_found(
    results: Results, explainer: str, base: Channel, auc: Row | None, beside: str, people: str
) -> tuple[Harm, str]:
    """What is said where no addition was found; only a bounded one may sound reassuring."""
    if auc is None:
        return Harm.OPEN, f"What it adds to {BASES[base]} could not be resolved."
    rows = tuple(r for r in results.find(kind="contrast", against=base, group="") if r.explainer == explainer)
    rival = Sentences(results, "auc", rows).rivalled(auc)
    known = detection_limits.limit(results, auc)
    if kind_of(auc) == "open" and rival is None and known.kind == "bounded":
        return Harm.NONE, f"{beside} adds less than {words.above(known.found)} AUC, for the attacks tried{people}."
    if rival is not None:
        return Harm.MEMBERSHIP, (
            f"{beside} was not found to add anything, yet by itself it separates members better than "
            f"{BASES[base]}{people}."
        )
    return Harm.OPEN, f"What it adds to {BASES[base]}: {TOO_SMALL}{people}."


def cell(results: Results, explainer: str, base: Channel) -> str:
    """What an explanation adds to a prediction in AUC, as a cell of the overview."""
    auc = contrast(results, explainer, base, "auc")
    if auc is None:
        return words.DASH
    if kind_of(auc) == "found":
        return words.span_of(auc)
    harm, _ = _not_found(results, explainer, base, auc, "", "")
    if harm == Harm.NONE:
        return f"below {words.above(detection_limits.limit(results, auc).found)}"
    return "not by this attack" if harm == Harm.MEMBERSHIP else TOO_SMALL
