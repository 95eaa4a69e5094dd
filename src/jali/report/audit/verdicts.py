"""One verdict for each explanation, ranked by harm: a false claim, people named, values given away, membership."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jali.audit.wrapped import part_of
from jali.core.protocols import ReleasesRows
from jali.core.values import Channel
from jali.report import words
from jali.report.audit import detection_limits, membership
from jali.report.audit.findings import Finding, Harm
from jali.results import Results, Row

NAMED = 0.01  # of all answers: people count as named where more than that surely lead to the right person
TOO_SMALL = membership.TOO_SMALL
UNTESTED = "It shows rows of real people. Whether they can be named was not tested."
BASES = membership.BASES
TAGS = {
    Harm.CLAIM: "false privacy claim",
    Harm.IDENTITY: "names people",
    Harm.ATTRIBUTES: "gives values away",
    Harm.MEMBERSHIP: "helps to infer membership",
    Harm.OPEN: TOO_SMALL,
    Harm.NONE: "nothing found by the attacks tried",
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
    return sorted(found, key=lambda v: (v.harm, -_named(results, v.explainer), -membership.most(results, v.explainer)))


def explainers(results: Results) -> list[str]:
    """The explanations of an audit, each once, in their order."""
    return list(dict.fromkeys(row.explainer for row in results.rows if row.explainer))


def verdict(results: Results, explainer: str) -> Verdict:
    """What was found of one explanation."""
    refuted = [given.refuted for given in results.guarantees if given.refuted and given.what == explainer]
    found = [Finding(Harm.CLAIM, said) for said in refuted]
    found += _identity(results, explainer) or _untested(results, explainer)
    found += _attributes(results, explainer)
    found += membership.findings(results, explainer)
    if not found:
        return Verdict(explainer, Harm.OPEN, ("Nothing was measured that says what it gives away.",))
    ranked = sorted(found, key=lambda one: one.harm)
    return Verdict(explainer, ranked[0].harm, tuple(one.sentence for one in ranked))


def best(results: Results, explainer: str, metric: str) -> Row | None:
    """What the query attack on an explanation that surely reached most reached in a metric."""
    rows = results.find(kind="query attack", explainer=explainer, metric=metric, group="", target=None)
    return max((row for row in rows if row.value is not None), key=surely, default=None)


def surely(row: Row) -> tuple[float, float]:
    """The lower end of a row, or its value where there is no interval; then its value."""
    value = row.value or 0.0
    return (value if row.low is None else row.low), value


def _named(results: Results, explainer: str) -> float:
    right = best(results, explainer, "reidentified")
    return 0.0 if right is None else surely(right)[0]


def of_100(row: Row) -> str:
    """A share as so many of 100, with its interval where there is one; what is small is not rounded to nothing.

    >>> of_100(Row(kind="query attack", metric="reidentified", value=0.92, low=0.871, high=0.98))
    '87 to 98'
    >>> of_100(Row(kind="query attack", metric="reidentified", value=0.004, low=0.003, high=0.0049))
    '0.3 to 0.49'
    >>> of_100(Row(kind="query attack", metric="reidentified", value=0.99, low=0.98, high=0.9968))
    '98 to 99.7'
    """
    if row.low is None or row.high is None:
        return f"about {_percent(row.value or 0.0)}"
    low, high = (_percent(min(max(end, 0.0), 1.0)) for end in (row.low, row.high))
    return low if low == high else f"{low} to {high}"


def _percent(share: float) -> str:
    if 0 < share < NAMED:
        return f"{100 * share:.2g}"
    whole = f"{100 * share:.0f}"
    return whole if whole != "100" or share == 1 else words.percent(share)


def _identity(results: Results, explainer: str) -> list[Finding]:
    """Who is found by linkage."""
    right = best(results, explainer, "reidentified")
    if right is None:
        return []
    said = f"{of_100(right)} of 100 answers lead to the right person"
    if surely(right)[0] > NAMED:
        return [Finding(Harm.IDENTITY, f"{said[0].upper()}{said[1:]}, by linkage with a list of people.")]
    if right.high is None or right.high > 2 * NAMED:
        return [Finding(Harm.OPEN, f"Whether it names people: {TOO_SMALL} ({said}).")]
    if surely(right)[0] > 0:
        return [Finding(Harm.IDENTITY, f"Few answers name people: {said}.")]
    return [Finding(Harm.NONE, f"No attack tried could name people: {said}.")]


def _untested(results: Results, explainer: str) -> list[Finding]:
    """Rows of real people that nobody tried to name, which says nothing about whether that can be done."""
    if not shows_rows(results, explainer):
        return []
    return [Finding(Harm.OPEN, UNTESTED)]


def shows_rows(results: Results, explainer: str) -> bool:
    """Whether an explainer of ours shows rows of training people."""
    part = part_of(results, explainer)
    return isinstance(part, ReleasesRows) and part.releases_rows()


def _attributes(results: Results, explainer: str) -> list[Finding]:
    """What the attack that learns most of a person's other values learns."""
    gain = best(results, explainer, "disclosure_advantage")
    if gain is None or gain.low is None or gain.low <= 0:
        return []
    about = {"attack": gain.attack, "knowledge": gain.knowledge, "explainer": explainer, "group": "", "target": None}
    known = [
        row.value for row in results.find(kind="query attack", metric="disclosed", **about) if row.value is not None
    ]
    if not known:
        more = words.whole_percent(gain.value or 0.0)
        return [Finding(Harm.ATTRIBUTES, f"The attacker learns {more} more of that person's other values.")]
    before = known[0] - (gain.value or 0.0)
    sentence = (
        f"The attacker then knows {words.whole_percent(known[0])} of that person's other values, against "
        f"{words.whole_percent(before)} without the answer."
    )
    return [Finding(Harm.ATTRIBUTES, sentence)]


def cell(results: Results, explainer: str, base: Channel) -> str:
    """What an explanation adds to a prediction in AUC, as a cell of the overview."""
    row = membership.contrast(results, explainer, base, "auc")
    if row is None:
        return words.DASH
    found = membership.added(results, explainer, base)
    if found is None or found.harm == Harm.OPEN:
        return TOO_SMALL
    if found.harm == Harm.NONE:
        return f"below {words.above(detection_limits.limit(results, row).found)}"
    return words.span_of(row) if membership.is_found(row) else "found in other metrics"


def more_of_100(results: Results, explainer: str, base: Channel) -> str:
    """The same as pairs of a member and a non-member of which the member is picked, more than without it."""
    row = membership.contrast(results, explainer, base, "auc")
    text = cell(results, explainer, base)
    if row is None or not membership.is_found(row):
        bounded = row is not None and text.startswith("below")
        return (
            f"fewer than {pairs(detection_limits.limit(results, row).found)}" if row is not None and bounded else text
        )
    return f"{pairs(row.low)} to {pairs(row.high)}"


def pairs(share: float | None) -> str:
    """A difference in AUC as so many of 100 pairs; small ones keep a digit.

    >>> pairs(0.121), pairs(0.0064)
    ('12', '0.64')
    """
    count = 100 * (share or 0.0)
    return f"{count:.0f}" if abs(count) >= 10 else f"{count:.2g}"


def worst_claim(results: Results) -> str:
    """A sentence where a privacy claim of the audit is false or contradicted, whatever part makes it."""
    false: Sequence[str] = [given.what for given in results.guarantees if given.refuted]
    if false:
        return f"The privacy claim of {false[0]} is false."
    return "A privacy claim is contradicted by what an attack achieved." if results.contradicted else ""
