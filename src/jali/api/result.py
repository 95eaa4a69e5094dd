"""The results of an audit as users hold them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from jali.audit import evidence
from jali.config import Config
from jali.core.values import Evidence, Game
from jali.results import Results
from jali.store import Store, write_text


@dataclass(frozen=True)
class Audit:
    """The results of an audit; `repr` is a summary, and `save` writes report, results, evidence and configuration."""

    results: Results
    evidence: Evidence
    game: Game
    config: Config

    def save(self, out: str | Path, store: Store | None = None) -> Path:
        """Write report.html, results.json, evidence.npz and audit.toml into a folder; return the report's path.

        store: where figures are kept, so that they need not be drawn again for the same numbers.
        """
        from jali.report.audit import html
        from jali.report.remembered import remembering

        folder = Path(out)
        with remembering(store):
            page = html.render(self.results)
        evidence.write(folder / "evidence.npz", self.evidence, self.game)
        write_text(folder / "audit.toml", self.config.toml(folder))
        write_text(folder / "results.json", self.results.model_dump_json(indent=1))
        write_text(folder / "report.html", page)
        return folder / "report.html"

    def __repr__(self) -> str:
        from jali.report.audit import text

        return f"{text.summary(self.results)}\n\n{text.plain(self.results)}"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(repr(self))}</pre>"
