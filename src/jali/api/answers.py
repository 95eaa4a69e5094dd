"""The answers of functions that read files or objects: `repr` is a short page, `save` writes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel

from jali.store import together, write_text

if TYPE_CHECKING:
    from jali.report.sheet import Sheet

Results = TypeVar("Results", bound=BaseModel)


@dataclass(frozen=True, eq=False)
class Answer(Generic[Results]):
    """Results with the page that shows them; files: further files by name, such as a ranking by row number."""

    results: Results
    page: Callable[[Results], Sheet]
    files: Mapping[str, str] = field(default_factory=dict)

    def save(self, out: str | Path) -> Path:
        """Write report.html, results.json and further files into a folder; return the report's path."""
        from jali.report import sheet
        from jali.report.words import as_json

        folder = Path(out)
        page = sheet.html(self.page(self.results))
        with together():
            for name, text in self.files.items():
                write_text(folder / name, text)
            write_text(folder / "results.json", as_json(self.results))
            write_text(folder / "report.html", page)
        return folder / "report.html"

    def printed(self) -> Any:
        """The page for a terminal."""
        from jali.report import sheet

        return sheet.printed(self.page(self.results))

    def __repr__(self) -> str:
        from jali.report import sheet

        return sheet.plain(self.page(self.results))

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(repr(self))}</pre>"
