"""What an experiment ends with: its results, and what they are based on."""

from __future__ import annotations

from dataclasses import dataclass, field

from jali.core.values import Dataset, Evidence, Game
from jali.results import Results, Row


@dataclass(frozen=True)
class Outcome:
    """The results of an experiment, and the evidence they are based on."""

    results: Results
    evidence: Evidence
    game: Game
    data: Dataset | None = field(default=None, repr=False)


def stamped(rows: list[Row], key: str) -> list[Row]:
    """The rows with the key of the experiment they come from."""
    return [row.model_copy(update={"key": key[:16]}) for row in rows]
