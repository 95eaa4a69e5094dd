"""Published claims beside ours, in words: what was claimed, what we found, what it rests on, how many hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import get_args

from jali.report import words
from jali.results.reproduction import Finding, Verdict

# The same shapes as in the figures, so that no verdict is told by its colour alone.
MARKS: dict[Verdict, str] = {"matches": "●", "deviates": "◆", "not resolvable": "○"}
RULES = {
    "value": "A published number matches if our whole interval lies within its tolerance, deviates if the interval "
    "lies wholly outside, and is not resolvable otherwise.",
    "bound": "A number that is the most (≤) or the least (≥) ours may be matches if our whole interval lies on that "
    "side, deviates if it lies wholly on the other, and is not resolvable otherwise.",
    "order": "A sentence that one number is larger than another matches if the whole interval of the difference lies "
    "on the side it says, deviates if it lies wholly on the other side, and is not resolvable otherwise.",
    "same": "A sentence that two numbers are the same matches if the whole interval of the difference lies within the "
    "tolerance, deviates if it lies wholly outside, and is not resolvable otherwise.",
    "count": "A count matches if surely at least as many cases count, and deviates if even those that may are fewer; "
    "its interval runs from the sure to the possible.",
    "exact": "A number that was computed from the very models of the paper is compared by its value alone.",
}
HELD = "Without an interval, or at a scale smaller than a claim needs, it is not resolvable."
DIFFERENCES = ("order", "same")
LONGEST = 50


@dataclass(frozen=True)
class Section:
    """Findings that are read together."""

    title: str
    findings: tuple[Finding, ...]

    @property
    def source(self) -> str:
        """Where all of them were published, empty if they differ or the title says it."""
        found = {f.source for f in self.findings}
        return "" if len(found) > 1 or self.title.startswith(tuple(found)) else found.pop()

    @property
    def sourced(self) -> bool:
        """Whether findings have sources of their own to show."""
        return len({f.source for f in self.findings}) > 1

    @property
    def claimant(self) -> str:
        """What the column of claims is called: nothing that only we expect was published."""
        return "expected" if all(f.ours for f in self.findings) else "published"

    @property
    def rests(self) -> str:
        """What all of them rest on, empty if they differ."""
        found = {rests(f) for f in self.findings if f.value is not None}
        return found.pop() if len(found) == 1 else ""


@dataclass(frozen=True)
class Group:
    """Findings of a section on one axis, and the words that all of them begin with."""

    title: str
    kind: str
    findings: tuple[Finding, ...]

    def label(self, finding: Finding) -> str:
        """What a finding is called below the title."""
        return finding.quantity.removeprefix(f"{self.title}, ") if self.title else finding.quantity

    @property
    def reason(self) -> str:
        """What is said about all of them alike, empty if there is one alone or they differ."""
        found = {f.reason for f in self.findings}
        return found.pop() if len(found) == 1 < len(self.findings) else ""


def named(finding: Finding) -> str:
    """What a claim is called: a number with its study, because claims about several studies share their words.

    >>> same = {"quantity": "AUC, CFD", "source": "ours: by size", "kind": "value", "verdict": "matches"}
    >>> named(Finding(section="ours: by size: heloc", **same))
    'AUC, CFD (heloc)'
    """
    where = finding.section.removeprefix(finding.source).lstrip(": ") if finding.kind == "value" else ""
    return f"{finding.quantity} ({where})" if where else finding.quantity


def groups(findings: Iterable[Finding]) -> list[Group]:
    """Findings that begin with the same words, such as "AUC, "; differences, and numbers beyond 1, stand apart."""
    found: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        found.setdefault((_kind(finding), _head(finding)), []).append(finding)
    merged: dict[tuple[str, str], list[Finding]] = {}
    for (kind, head), some in found.items():
        merged.setdefault((kind, head if len(some) > 1 else ""), []).extend(some)
    return [Group(head, kind, tuple(some)) for (kind, head), some in merged.items()]


def band(finding: Finding) -> tuple[float, float, float | None] | None:
    """From where, around what, to where a number of ours would agree; None at the end means without end."""
    if finding.kind == "order":
        return 0.0, 0.0, None
    if finding.bound and finding.published is not None:
        limit = finding.published + (finding.tolerance if finding.bound == "most" else -finding.tolerance)
        return (0.0, limit, limit) if finding.bound == "most" else (limit, limit, None)
    middle = 0.0 if finding.kind == "same" else finding.published
    return None if middle is None else (middle - finding.tolerance, middle, middle + finding.tolerance)


def points(finding: Finding) -> list[float]:
    """Every number of a finding that an axis must hold; none if nobody has a number."""
    own = [finding.value, finding.low, finding.high] if finding.value is not None else []
    around = list(band(finding) or ()) if own or finding.published is not None else []
    return [x for x in (*own, *around) if x is not None]


def sections(findings: Iterable[Finding]) -> list[Section]:
    """Findings by section, in the order in which sections first appear."""
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        found.setdefault(finding.section, []).append(finding)
    return [Section(title, tuple(some)) for title, some in found.items()]


def tally(findings: Sequence[Finding]) -> dict[Verdict, int]:
    """How many findings have each verdict.

    >>> tally([])
    {'matches': 0, 'deviates': 0, 'not resolvable': 0}
    """
    return {verdict: sum(f.verdict == verdict for f in findings) for verdict in get_args(Verdict)}


def claimed(finding: Finding) -> str:
    """The published number as it was printed, or what a sentence says about a difference.

    >>> same = dict(section="", source="", verdict="matches")
    >>> claimed(Finding(quantity="AUC", kind="value", published=0.5887, **same))
    '0.5887'
    >>> claimed(Finding(quantity="LRT is stronger", kind="order", **same))
    'difference above 0'
    """
    if finding.kind in DIFFERENCES:
        return "difference above 0" if finding.kind == "order" else "difference of 0"
    if finding.published is None:
        return "no number"
    side = {"most": "≤ ", "least": "≥ "}.get(finding.bound, "≥ " if finding.kind == "count" else "")
    return side + _exact(finding.published, 2 if finding.kind == "value" and abs(finding.published) < 10 else 0)


def tolerated(finding: Finding) -> str:
    """The tolerance around what was claimed; an order has none."""
    if finding.kind in ("order", "count") or (finding.kind != "same" and finding.published is None):
        return ""
    sign = {"most": "+", "least": words.MINUS}.get(finding.bound, "±")
    return f"{sign}{words.THIN}{_exact(finding.tolerance)}" if finding.tolerance or not finding.bound else ""


def ours(finding: Finding) -> str:
    """Our number; a difference carries its sign.

    >>> ours(Finding(quantity="", section="", source="", kind="order", value=0.0214, verdict="matches"))
    '+0.021'
    """
    return words.DASH if finding.value is None else _written(finding, finding.value)


def span(finding: Finding) -> str:
    """Our interval in brackets, empty if there is none."""
    if finding.value is None or finding.low is None or finding.high is None:
        return ""
    return f"[{_written(finding, finding.low)}, {_written(finding, finding.high)}]"


def rests(finding: Finding) -> str:
    """Over how many target models our interval was taken."""
    if not finding.units or finding.value is None:
        return ""
    return f"over {finding.units:,} target models" if finding.units > 1 else "one target model"


def rules(findings: Iterable[Finding]) -> list[str]:
    """One sentence for each kind of claim on the page."""
    kinds = {kind for f in findings for kind in ("bound" if f.bound else f.kind, "exact" if f.exact else "")}
    return [*(text for kind, text in RULES.items() if kind in kinds), HELD] if kinds else []


def _kind(finding: Finding) -> str:
    if finding.kind in DIFFERENCES:
        return "difference"
    return "share" if all(abs(x) <= 1.5 for x in points(finding)) else "number"


def _head(finding: Finding) -> str:
    head, comma, _ = finding.quantity.partition(", ")
    return head if comma and finding.kind == "value" and len(head) <= LONGEST else ""


def _exact(x: float, least: int = 0) -> str:
    """A number with the digits it was typed in, and at least so many decimals."""
    whole, _, part = f"{Decimal(repr(abs(float(x)))):,f}".partition(".")
    part = part.rstrip("0").ljust(least, "0")
    return (words.MINUS if x < 0 else "") + (f"{whole}.{part}" if part else whole)


def _written(finding: Finding, x: float) -> str:
    """Value and both ends in the same number of decimals; what rounds to nothing has no sign."""
    text = f"{abs(x):,.{_decimals(finding)}f}"
    plus = "+" if finding.kind in DIFFERENCES else ""
    return text if not text.strip("0.") else (words.MINUS if x < 0 else plus) + text


def _decimals(finding: Finding) -> int:
    """Three decimals, fewer for large numbers and counts, more where the interval or the tolerance is narrow."""
    known = [abs(v) for v in (finding.value, finding.low, finding.high) if v is not None]
    if finding.kind == "count" and all(v == int(v) for v in known):
        return 0
    size = max(known)
    digits = 3 if size < 10 else 1 if size < 1000 else 0
    low, high = (finding.value if v is None else v for v in (finding.low, finding.high))
    width = (high or 0.0) - (low or 0.0)
    while 0 < width < 3 * 10**-digits and digits < 6:
        digits += 1
    return max(digits, 4) if 0 < finding.tolerance < 0.01 and size < 1 else digits
