"""The results of an audit as users hold them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jali.audit import evidence
from jali.config import Config
from jali.core.values import Evidence, Game
from jali.results import Results, Row
from jali.store import Store, together, write_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


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
        from jali.report.words import as_json

        folder = Path(out)
        with remembering(store):
            page = html.render(self.results)
        with together():
            evidence.write(folder / "evidence.npz", self.evidence, self.game)
            write_text(folder / "audit.toml", self.config.toml(folder))
            write_text(folder / "results.json", as_json(self.results))
            write_text(folder / "report.html", page)
        return folder / "report.html"

    def summary(self) -> str:
        """The first screen of the report as plain text."""
        from jali.report.audit import text

        return text.first(self.results)

    def to_frame(self) -> pd.DataFrame:
        """All numbers as a table, one row each, with a column for each thing that a number is about."""
        import pandas as pd

        return pd.DataFrame([row.model_dump(mode="json") for row in self.results.rows], columns=list(Row.model_fields))

    def plot(self, metric: str = "auc", axes: Axes | None = None) -> Axes:
        """Draw what each explanation adds to the decision and to the score, with intervals; return the axes."""
        from jali.report.figures import added

        return added(self.results, metric, axes)

    def __repr__(self) -> str:
        from jali.report.audit import text

        return f"{self.summary()}\n\n{text.plain(self.results)}"

    def _repr_html_(self) -> str:
        from jali.report.audit import html

        return html.notebook(self.results)
