"""The first page of several reproductions: one table that compares the papers."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jali.report import words
from jali.report.markdown import escape, slug
from jali.report.reproduction import mirror
from jali.report.reproduction.compared import tally
from jali.report.reproduction.page import tidy
from jali.report.reproduction.templates import environment
from jali.results.reproduction import Finding, Reproduction, Verdict, published

UNEXPLAINED = "no cause is known yet"
TOO_FEW = "too few non-members for the rate"
LATER = "judged at a larger scale only"
WIDE = "interval too wide"
NO_NUMBER = "no number of ours"


@dataclass(frozen=True)
class Line:
    """One paper in the table."""

    name: str
    title: str
    scale: str
    claims: int
    tally: dict[Verdict, int]
    holds: str
    fails: str
    open: str


def index(found: Sequence[Reproduction]) -> str:
    """The first page, in Markdown: what holds, what does not, what cannot be told, and why, by paper."""
    lines = [_line(words.cleaned(one, escape)) for one in sorted(found, key=lambda one: one.paper)]
    return tidy(environment().get_template("index.md.j2").render(lines=lines))


def _line(found: Reproduction) -> Line:
    stated = published(found.findings)
    return Line(
        name=slug(found.paper),
        title=found.title,
        scale=found.scale,
        claims=len(stated),
        tally=tally(stated),
        holds=_where([f for f in stated if f.verdict == "matches"], stated),
        fails=_failing([f for f in stated if f.verdict == "deviates"], stated),
        open=_left_open([f for f in stated if f.verdict == "not resolvable"]),
    )


def _where(some: Iterable[Finding], stated: Iterable[Finding]) -> str:
    """In which tables, figures and sections how many of the claims are."""
    every = Counter(map(_place, stated))
    found = Counter(map(_place, some))
    return "; ".join(f"{place} ({n} of {every[place]})" for place, n in found.items())


def _place(finding: Finding) -> str:
    return finding.item or mirror.section_of(finding.source)


def _failing(some: Sequence[Finding], stated: Sequence[Finding]) -> str:
    """Where claims deviate, and whose the causes are."""
    if not some:
        return words.DASH
    causes = Counter(f.differs.partition(":")[0] or UNEXPLAINED for f in some)
    said = ", ".join(f"{cause} {n}" for cause, n in causes.most_common())
    return f"{_where(some, stated)}<br>causes: {said}"


def _left_open(some: Sequence[Finding]) -> str:
    """Why claims are open, and what would resolve those whose interval is too wide."""
    if not some:
        return words.DASH
    reasons = Counter(map(_reason, some))
    targets = [f.needs.targets for f in some if f.needs is not None and f.needs.targets is not None]
    said = ", ".join(f"{reason} {n}" for reason, n in reasons.most_common())
    middle = f"<br>half of these need {statistics.median_low(targets):,} targets or fewer" if targets else ""
    return said + middle


def _reason(finding: Finding) -> str:
    """Why one claim is open."""
    if re.search(r"needs at least [\d,]+ non-members", finding.reason):
        return TOO_FEW
    if "scale" in finding.reason and (finding.value is None or "judged from" in finding.reason):
        return LATER
    return WIDE if finding.value is not None else NO_NUMBER
