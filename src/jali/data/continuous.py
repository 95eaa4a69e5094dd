"""Another data set without constraints on what may change."""

from __future__ import annotations

from dataclasses import dataclass, replace

from jali.core.protocols import Source
from jali.core.values import Column, Dataset
from jali.data.tables.wrapped import Wrapped


@dataclass(frozen=True)
class Continuous(Wrapped):
    """Another data set whose integers are plain numbers and whose columns may all change.

    For recourse searched without constraints, as in the experiments of Pawelczyk, Lakkaraju and Neel (2023). Rows,
    bounds, scales and categories stay as they are, so models see the same inputs; only what a search may answer is
    wider, among it answers no person could follow, such as another age.

    >>> from jali.data.lending import Lending
    >>> sorted({column.kind for column in Continuous(Lending(n=20)).load().schema.columns})
    ['category', 'number']
    """

    source: Source

    def told(self, origin: str) -> str:
        """The origin of the source and what was done to it."""
        return f"{origin}; searched without constraints"

    def load(self) -> Dataset:
        """Load the table and widen its schema."""
        data = self.source.load()
        return replace(data, schema=replace(data.schema, columns=tuple(map(_free, data.schema.columns))))


def _free(column: Column) -> Column:
    return replace(column, kind="number" if column.kind == "integer" else column.kind, mutable=True)
