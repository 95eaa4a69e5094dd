"""A reproduction in the order of its paper: its tables cell by cell, its figures, its sentences by section."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jali.report.footnotes import raised
from jali.report.markdown import slug
from jali.report.reproduction.compared import rests, tolerated
from jali.reproduce.placing import items_in
from jali.reproduce.resolving import MOST
from jali.results.reproduction import Finding, Item, Needs, Reproduction, Verdict, published

ORDER: tuple[Verdict, ...] = ("matches", "deviates", "not resolvable")
ELSEWHERE = "Elsewhere in the paper"
PUBLISHED = "published, ours, verdict"


@dataclass(frozen=True)
class Cell:
    """One number of the paper: what was printed, ours as released by the authors, and ours.

    The verdict that counts is on the number that was made as the authors made theirs, where there is one.
    """

    released: Finding | None
    ours: Finding | None

    @property
    def counted(self) -> Finding:
        """The finding whose verdict counts for the published number."""
        found = self.released or self.ours
        if found is None:
            raise ValueError("A cell has a number of ours.")
        return found


@dataclass(frozen=True)
class Grid:
    """A table of the paper: names of rows and columns in its order, and the cells that it has."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: dict[tuple[str, str], Cell]


@dataclass(frozen=True)
class Part:
    """A table or figure of the paper with everything that stands here about it."""

    item: Item
    findings: tuple[Finding, ...]
    said: tuple[Finding, ...]
    figures: tuple[str, ...]

    @property
    def anchor(self) -> str:
        """Where it stands on the page."""
        return slug(self.item.name)

    @property
    def grid(self) -> Grid | None:
        """Its numbers by row and column."""
        return _grid(self.findings)

    @property
    def numbers(self) -> list[Finding]:
        """Its published numbers, each once."""
        return published(self.findings)

    @property
    def counted(self) -> list[Finding]:
        """Its published claims: numbers, and sentences that name it."""
        return [*self.numbers, *self.said]

    @property
    def notes(self) -> Notes:
        """What is said about its numbers."""
        return notes(self.findings)

    @property
    def rests(self) -> str:
        """What all its numbers rest on, empty if they differ."""
        found = {rests(f) for f in self.findings if f.value is not None}
        return found.pop() if len(found) == 1 else ""

    @property
    def tolerance(self) -> str:
        """The tolerance of all its published numbers, empty if they differ."""
        found = {tolerated(f) for f in published(self.findings)}
        return found.pop() if len(found) == 1 else ""

    @property
    def sections(self) -> list[str]:
        """The sections of the paper whose sentences name it."""
        return list(dict.fromkeys(section_of(f.source) for f in self.said))


@dataclass(frozen=True)
class Chapter:
    """The sentences of one section of the paper."""

    title: str
    findings: tuple[Finding, ...]

    @property
    def sorted(self) -> list[Finding]:
        """Its sentences by verdict, those that hold first."""
        return sorted(self.findings, key=lambda f: ORDER.index(f.verdict))

    @property
    def notes(self) -> Notes:
        """What is said about its sentences, in the order in which they are shown."""
        return notes(self.sorted)


def parts(found: Reproduction) -> list[Part]:
    """The tables and figures of the paper, in its order; those that its contents do not name come last."""
    values = [f for f in found.findings if _in_a_table(f, found.findings)]
    said = [f for f in found.findings if f.kind != "value" and f.item and not f.ours]
    drawn = list(dict.fromkeys(d.figure for d in found.drawings))
    named = {i.name: i for i in found.contents}
    mentioned = [*map(_item, values), *(f.item for f in said), *(i for figure in drawn for i in items_in(figure))]
    others = [Item(name=name) for name in dict.fromkeys(mentioned) if name not in named]
    return [
        Part(
            item,
            tuple(f for f in values if _item(f) == item.name),
            tuple(f for f in said if f.item == item.name),
            tuple(figure for figure in drawn if item.name in items_in(figure)),
        )
        for item in (*named.values(), *others)
    ]


def chapters(findings: Iterable[Finding]) -> list[Chapter]:
    """What the paper says in words, by section, in the order of sections."""
    out: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.kind != "value" and not finding.ours:
            out.setdefault(section_of(finding.source), []).append(finding)
    return [Chapter(title, tuple(out[title])) for title in sorted(out, key=_rank)]


def own(findings: Sequence[Finding]) -> list[Finding]:
    """The claims that we added, without those that stand beside published numbers as ours."""
    return [f for f in findings if f.ours and not _in_a_table(f, findings)]


@dataclass(frozen=True)
class Notes:
    """What is said about several findings, each text once and numbered."""

    texts: tuple[str, ...]

    def mark(self, finding: Finding) -> str:
        """The numbers of what is said about a finding."""
        return "˒".join(raised(self.texts.index(text) + 1) for text in remarks(finding))

    @property
    def lines(self) -> list[str]:
        """The texts with their numbers."""
        return [f"{raised(number)} {text.rstrip('.')}." for number, text in enumerate(self.texts, 1)]


def notes(findings: Iterable[Finding]) -> Notes:
    """The notes of some findings, in their order."""
    return Notes(tuple(dict.fromkeys(text for finding in findings for text in remarks(finding))))


def remarks(finding: Finding) -> list[str]:
    """What is said about a finding besides its numbers: a note, and whose a deviation is."""
    return [text for text in (finding.reason, finding.differs) if text]


def resolves(needs: Needs | None) -> str:
    """What would resolve a claim, in words.

    >>> resolves(Needs(targets=34, times=5.7, hours=1.25)), resolves(Needs()), resolves(None)
    ('34 targets (1.2 h) or 5.7 × the people', 'at the limit: no number of targets would tell', '')
    """
    if needs is None:
        return ""
    if needs.targets is None and needs.times is None:
        return "at the limit: no number of targets would tell"
    if needs.targets is None:
        return f"more than {MOST:,} targets or {_times(needs)} × the people"
    more = " or more" if needs.at_least else ""
    hours = f" ({duration(needs.hours)}{more})" if needs.hours is not None else ""
    return f"{needs.targets:,} targets{hours} or {_times(needs)} × the people"


def _times(needs: Needs) -> str:
    times = needs.times or 0.0
    return f"{times:,.0f}" if times >= 100 else f"{times:g}"


def duration(hours: float) -> str:
    """Hours as people say them.

    >>> duration(1.25), duration(0.3), duration(0.004), duration(130.2)
    ('1.2 h', '18 min', '1 min', '130 h')
    """
    if hours < 1:
        return f"{max(1, round(60 * hours))} min"
    return f"{hours:.1f} h" if hours < 10 else f"{hours:,.0f} h"


def section_of(source: str) -> str:
    """The section of the paper that a source names.

    >>> section_of("Section 6.2, Table 2; AUC"), section_of("Figure 4; NCP"), section_of("Appendix J.1; AUC")
    ('Section 6.2', 'Figure 4', 'Appendix J.1')
    """
    head = source.partition(";")[0].partition(",")[0].strip()
    return head or ELSEWHERE


def _in_a_table(finding: Finding, findings: Sequence[Finding]) -> bool:
    """Whether a number stands in a table of the paper: a published one, or one of ours about the same cell."""
    if finding.kind != "value":
        return False
    return not finding.ours or any(not f.ours and f.row and _cell(f) == _cell(finding) for f in findings)


def _item(finding: Finding) -> str:
    """The table or figure of a number, or where else the paper has it; a number without a row of its own: its study."""
    return finding.item or (finding.source if finding.row else finding.section)


def _cell(finding: Finding) -> tuple[str, str, str]:
    """Item, row and column; a number without names of its own stands in a row for itself."""
    return _item(finding), finding.row or finding.quantity, finding.column or PUBLISHED


def _grid(findings: Sequence[Finding]) -> Grid | None:
    """The cells of a table; rows in the order that its columns have in common, and columns in that of its rows."""
    if not findings:
        return None
    here: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        here.setdefault(_cell(finding)[1:], []).append(finding)
    cells = {}
    for place, some in here.items():
        clean = [f for f in some if not f.released]
        cells[place] = Cell(next((f for f in some if f.released), None), min(clean, key=_ours, default=None))
    return Grid(_merged(here), _merged([(column, row) for row, column in here]), cells)


def _merged(places: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """The first names of pairs; one that a column adds stands behind the one before it in that column.

    >>> _merged([("a", "x"), ("c", "x"), ("a", "y"), ("b", "y"), ("c", "y")])
    ('a', 'b', 'c')
    """
    out: list[str] = []
    last: dict[str, str] = {}
    for name, column in places:
        if name not in out:
            at = out.index(last[column]) + 1 if column in last else len(out)
            out.insert(at, name)
        last[column] = name
    return tuple(out)


def _ours(finding: Finding) -> bool:
    return finding.ours


def _rank(title: str) -> tuple[int, list[int], str]:
    """Sections by number, then appendices, then what names a table or figure alone."""
    kind = 0 if title.startswith("Section") else 1 if title.startswith("Appendix") else 2
    return kind, [int(n) for n in re.findall(r"\d+", title)], title
