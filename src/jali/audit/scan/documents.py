"""Notebooks, web pages and plain text: printed tables, and the data inside interactive figures."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

from jali.core.errors import JaliError

WIDE = 400  # columns of a printed table
LINES = 200_000  # lines of a text that are read
GAP = re.compile(r"\s{2,}|\t|\s*\|\s*")
NUMBER = re.compile(r"[-+\N{MINUS SIGN}]?(\d[\d,]*\.?\d*|\.\d+)(e[-+]?\d+)?%?", re.IGNORECASE)
PATIENCE = 10_000_000  # characters of a script that are read in vain, beside twenty times its own
NESTED = 100_000  # what brackets that are nested too deeply count
OPENING = re.compile(r"[\[{]")
DATA = ("application/json", "application/vnd.plotly.v1+json", "application/vnd.vega")
Table = dict[str, list[str]] | list[list[str]]


def notebook(book: Any, label: str) -> Iterator[tuple[Any, str]]:
    """Values in the outputs and sources of a notebook's cells, with where they lie."""
    cells = book.get("cells", []) if isinstance(book, dict) else []
    for number, cell in enumerate(cells, start=1):
        where = f"{label}, cell {number}"
        for table in printed(_joined(cell.get("source"))):
            yield table, f"{where}, source"
        for output in cell.get("outputs", []):
            yield from _output(output, f"{where}, output")


def _output(output: Any, where: str) -> Iterator[tuple[Any, str]]:
    """Values in one output: printed text, a page, or the data of a figure."""
    kinds = dict(output.get("data", {}))
    if "text" in output:
        kinds["text/plain"] = output["text"]
    if "text/html" in kinds and not any(k.startswith("application/vnd") for k in kinds):
        kinds.pop("text/plain", None)  # the same table once more
    for kind, value in kinds.items():
        if kind.startswith(DATA):
            yield value, where
        elif kind == "text/html":
            yield from page(_joined(value), where)
        elif kind.startswith("text/"):
            for table in printed(_joined(value)):
                yield table, where
        elif kind == "application/javascript":
            for found in embedded(_joined(value)):
                yield found, where


def _joined(text: Any) -> str:
    return "".join(str(line) for line in text) if isinstance(text, list) else str(text or "")


def page(text: str, label: str) -> Iterator[tuple[Any, str]]:
    """Values in a web page: its tables, preformatted text, and data in its scripts and attributes."""
    reader = _Page()
    reader.feed(text)
    reader.close()
    for rows in reader.tables:
        for table in _columns(rows):
            yield table, f"{label}, table"
    for script in reader.scripts:
        for found in embedded(script):
            yield found, f"{label}, script"
    for block in reader.blocks:
        for table in printed(block):
            yield table, f"{label}, text"


class _Page(HTMLParser):
    """Tables as rows of cells, whether a cell is a heading, scripts, and preformatted text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[list[list[tuple[str, bool]]]] = []
        self.scripts: list[str] = []
        self.blocks: list[str] = []
        self._open: list[list[list[tuple[str, bool]]]] = []
        self._cell: list[str] | None = None
        self._kind = ""
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a table, row, cell or script; attributes that hold data are scripts too."""
        if tag == "table":
            self._open.append([])
        elif tag == "tr" and self._open:
            self._open[-1].append([])
        elif tag in ("td", "th") and self._open:
            self._cell = []
            self._kind = tag
        elif tag in ("script", "pre"):
            self._inside = tag
            (self.scripts if tag == "script" else self.blocks).append("")
        self.scripts += [v for _, v in attrs if v and len(v) > 40 and v.lstrip()[:1] in ("{", "[")]

    def handle_endtag(self, tag: str) -> None:
        """End a table, a cell, a script or a preformatted text."""
        if tag in ("td", "th") and self._cell is not None and self._open and self._open[-1]:
            self._open[-1][-1].append(("".join(self._cell).strip(), self._kind == "th"))
            self._cell = None
        elif tag == "table" and self._open:
            self.tables.append(self._open.pop())
        elif tag == self._inside:
            self._inside = ""

    def handle_data(self, data: str) -> None:
        """Text of a cell, a script or a preformatted block."""
        if self._inside:
            kept = self.scripts if self._inside == "script" else self.blocks
            kept[-1] += data
        elif self._cell is not None:
            self._cell.append(data)


def _columns(rows: list[list[tuple[str, bool]]]) -> list[Table]:
    """A table of a page by its headings; the labels of rows are left out."""
    body = [row for row in rows if row and not all(head for _, head in row)]
    heads = [row for row in rows if row and all(head for _, head in row)]
    if not body:
        return []
    labelled = all(row[0][1] for row in body)
    wide = max(len(row) for row in body)
    cells = [[text for text, _ in row][labelled:] for row in body if len(row) == wide]
    names = next(([text for text, _ in row] for row in heads if len(row) == wide), None)
    return [_named(names[labelled:] if names else None, cells)]


def _named(names: list[str] | None, cells: list[list[str]]) -> Table:
    """Columns by name where all have a different one, else rows; columns that stand for left-out ones go."""
    if names is None or len(set(names)) < len(names) or len(names) != len(cells[0]):
        return cells
    return {name: [row[j] for row in cells] for j, name in enumerate(names) if name not in ("...", "…")}


def embedded(script: str) -> Iterator[Any]:
    """Data in a script: every array or object in it that is valid JSON, the outermost ones.

    A script that opens brackets without end would be read again and again: that is refused, not passed over.
    """
    decoder = json.JSONDecoder()
    at = 0
    patience = PATIENCE + 20 * len(script)
    while (start := OPENING.search(script, at)) is not None:
        at = start.start()
        try:
            value, at = decoder.raw_decode(script, at)
        except (ValueError, RecursionError) as error:
            patience -= error.pos - at if isinstance(error, json.JSONDecodeError) else NESTED
            if patience < 0:
                raise JaliError("a script in it opens brackets that nothing closes, too often to search it") from None
            at += 1
            continue
        if value:
            yield value


def printed(text: str) -> Iterator[Table]:
    """Tables in plain text: runs of lines with the same number of cells, with the line above as headings."""
    if text.lstrip()[:1] in ("{", "["):
        yield from embedded(text)
    lines: list[str] = []
    for block in _blocks(text.splitlines()[:LINES]):
        aligned = _aligned(block)
        if aligned is not None:
            yield aligned
        else:
            lines += [*block, ""]
    yield from _runs(lines)


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Lines without an empty one between them, and without those that stand for left-out ones."""
    block: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            if set(line) - set(". "):
                block.append(line.rstrip())
        elif block:
            yield block
            block = []


def _aligned(block: list[str]) -> Table | None:
    """A table whose columns are as wide in every line, as pandas prints it; texts in it may hold spaces."""
    wide = len(block[0])
    if len(block) < 2 or any(len(line) != wide for line in block) or _numbers(block[0].split()):
        return None
    blank = [all(line[j] == " " for line in block) for j in range(wide)]
    ends = [j for j in range(1, wide) if blank[j] and not blank[j - 1]] + [wide]
    # A column ends where its heading ends; other gaps are inside texts.
    ends = [j for j in ends if j == wide or block[0][j - 1] != " " or not block[0][:j].strip()]
    starts = [0, *ends[:-1]]
    rows = [[line[a:b].strip() for a, b in zip(starts, ends, strict=True)] for line in block]
    heads, *cells = rows
    if len(heads) < 3 or not _numbers(cells[0]):
        return None
    return _named(heads[not heads[0] :], [row[not heads[0] :] for row in cells])


def _runs(lines: list[str]) -> Iterator[Table]:
    """Runs of lines with the same number of cells."""
    run: list[list[str]] = []
    before: list[str] = []
    for line in [*lines, ""]:
        cells = _cells(line)
        if cells and set("".join(cells)) <= set("-=+:. "):
            continue  # a rule, or dots for left-out lines
        if run and len(cells) == len(run[0]) and _numbers(cells):
            run.append(cells)
            continue
        if run:
            yield _block(before, run)
            before, run = [], []
        if 2 <= len(cells) <= WIDE and _numbers(cells):
            run = [cells]
        else:
            before = cells


def _cells(line: str) -> list[str]:
    """The cells of a line: apart by two spaces, tabs or bars, else by single spaces or commas."""
    text = line.strip().strip("|").strip()
    wide = [cell for cell in GAP.split(text) if cell != ""]
    if len(wide) > 1 or not text:
        return wide
    return [cell for cell in re.split(r"[,;]\s*|\s", text) if cell]


def _numbers(cells: list[str]) -> int:
    """How many cells are numbers."""
    return sum(NUMBER.fullmatch(cell) is not None for cell in cells)


def _block(heads: list[str], rows: list[list[str]]) -> Table:
    """A printed table; where there is one heading less than columns, the first column numbers the rows."""
    if len(heads) == len(rows[0]) - 1:
        return _named(heads, [row[1:] for row in rows])
    return _named(heads if len(heads) == len(rows[0]) else None, rows)
