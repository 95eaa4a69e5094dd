"""What came out, in sentences made from findings alone: how many claims hold per table, and the largest deviation."""

from __future__ import annotations

from collections.abc import Sequence

from jali.report.reproduction.compared import DIFFERENCES, band, claimed, named, ours, span, tally
from jali.results.reproduction import Finding


def outcomes(findings: Sequence[Finding]) -> list[str]:
    """One sentence per table of the paper and one on its sentences, then the same of our own claims.

    Each says what deviates most.

    >>> outcomes([])
    []
    """
    parts: dict[str, list[Finding]] = {}
    for finding in findings:
        parts.setdefault(_part(finding), []).append(finding)
    published_first = sorted(parts.items(), key=lambda part: part[1][0].ours)
    return [_outcome(title, some) for title, some in published_first]


def _part(finding: Finding) -> str:
    """The table that a number stands in; sentences are taken together."""
    return finding.source if finding.kind == "value" else finding.section


def _outcome(title: str, findings: Sequence[Finding]) -> str:
    said = f"{title}: {_counted(findings)}."
    worst = max((f for f in findings if f.verdict == "deviates"), key=gap, default=None)
    return said if worst is None else f"{said} Largest deviation: {_deviation(worst)}."


def _counted(findings: Sequence[Finding]) -> str:
    """How many claims have which verdict, in words."""
    found = {verdict: n for verdict, n in tally(findings).items() if n}
    many = len(findings)
    if len(found) > 1:
        return f"of {many} claims, {_listed([f'{n} {_verb(verdict, n)}' for verdict, n in found.items()])}"
    verb = _verb(next(iter(found)), many)
    return f"the only claim {verb}" if many == 1 else f"all {many} claims {verb}"


def _verb(verdict: str, count: int) -> str:
    """A verdict as a verb.

    >>> _verb("matches", 1), _verb("deviates", 3), _verb("not resolvable", 2)
    ('matches', 'deviate', 'are not resolvable')
    """
    if verdict == "not resolvable":
        return "is not resolvable" if count == 1 else "are not resolvable"
    return verdict if count == 1 else {"matches": "match", "deviates": "deviate"}[verdict]


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def gap(finding: Finding) -> float:
    """How far our interval lies from where it would agree, relative to a published number that is larger than 1."""
    agreed = band(finding)
    if agreed is None or finding.value is None:
        return 0.0
    low = finding.value if finding.low is None else finding.low
    high = finding.value if finding.high is None else finding.high
    above = 0.0 if agreed[2] is None else low - agreed[2]
    return max(agreed[0] - high, above, 0.0) / max(1.0, abs(finding.published or 0.0))


def _deviation(finding: Finding) -> str:
    """A claim with our number and interval, and what was claimed."""
    number = " ".join(filter(None, [ours(finding), span(finding)]))
    if finding.kind in DIFFERENCES:
        return f"“{finding.quantity}” (difference {number})"
    verb = "expected" if finding.ours else "published"
    return f"{named(finding)}, {number} where {claimed(finding)} was {verb}"
