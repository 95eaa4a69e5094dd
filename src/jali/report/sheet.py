"""A short page with the answer first: what attacks on files, scans and exposure share, as text and as HTML."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup
from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from jali.report import words
from jali.report.templates import environment


@dataclass(frozen=True)
class Block:
    """A table of a page: cells are texts, the first column names the row."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""


@dataclass(frozen=True)
class Drawing:
    """A figure of a page; a terminal does not show it."""

    title: str
    figure: Markup


@dataclass(frozen=True)
class Sheet:
    """One page: what kind of answer it is, the answer, what follows from it, tables, and what to keep in mind.

    drawings: figures, which stand before the tables; legend: what they share, in a sentence.
    """

    kind: str
    answer: str
    points: Sequence[str] = ()
    blocks: Sequence[Block] = ()
    notes: Sequence[str] = ()
    version: str = ""
    drawings: Sequence[Drawing] = ()
    legend: str = ""

    def cleaned(self) -> Sheet:
        """The same without control characters, which file names and columns of others may hold."""
        blocks = [
            Block(
                words.clean(b.title),
                [words.clean(h) for h in b.heads],
                [[words.clean(cell) for cell in row] for row in b.rows],
                words.clean(b.caption),
            )
            for b in self.blocks
        ]
        points = [words.clean(point) for point in self.points]
        notes = [words.clean(note) for note in self.notes]
        drawings = [Drawing(words.clean(d.title), d.figure) for d in self.drawings]
        said = {"answer": words.clean(self.answer), "legend": words.clean(self.legend)}
        return replace(self, points=points, blocks=blocks, notes=notes, drawings=drawings, **said)


def html(sheet: Sheet) -> str:
    """The page as one HTML document that loads nothing.

    >>> html(Sheet("Scan", "Nothing was found.")).startswith("<!doctype html>")
    True
    """
    return environment().get_template("sheet.html.j2").render(sheet=sheet.cleaned())


def printed(sheet: Sheet) -> Group:
    """The page for a terminal: the answer, what follows, tables, notes."""
    sheet = sheet.cleaned()
    lines = [Text(sheet.answer, style="bold"), *(Text(f"  {point}") for point in sheet.points)]
    tables = [table(block) for block in sheet.blocks if block.rows]
    return Group(*lines, *tables, *(Text(f"Note: {note}") for note in sheet.notes))


def plain(sheet: Sheet, width: int = 120) -> str:
    """The page as plain text, without colours."""
    buffer = io.StringIO()
    console = Console(
        file=buffer, width=width, color_system=None, force_terminal=False, force_jupyter=False, _environ={}
    )
    console.print(printed(sheet))
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines())


def table(block: Block) -> Table:
    """A table; texts of a user are never read as markup."""
    out = Table(title=Text(block.title, style="bold"), box=box.SIMPLE_HEAD, title_justify="left")
    for place, head in enumerate(block.heads):
        out.add_column(Text(head), justify="right" if place and _numeric(block, place) else "left", overflow="fold")
    for row in block.rows:
        out.add_row(*(Text(cell) for cell in row))
    out.caption = Text(block.caption, style="dim") if block.caption else None
    out.caption_justify = "left"
    return out


def _numeric(block: Block, place: int) -> bool:
    """Whether a column holds numbers."""
    return all(not row[place] or row[place][0].isdigit() or row[place][0] in "–−+" for row in block.rows)
