"""A copy of another data set in which every column may change and integers are plain numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from jali.core.protocols import Source
from jali.core.values import Column, Dataset
from jali.data.tables.wrapped import Wrapped


@dataclass(frozen=True)
class Continuous(Wrapped):
    """Another data set whose integers are plain numbers and whose columns may all change.

    For counterfactuals without constraints, as in the experiments of Pawelczyk, Lakkaraju and Neel (2023). Rows,
    bounds, scales and categories do not change, so models get the same inputs; only the set of possible answers is
    larger, and includes some that no person could follow, such as a lower age.

    >>> from jali.data.lending import Lending
    >>> sorted({column.kind for column in Continuous(Lending(n=20)).load().schema.columns})
    ['category', 'number']
    """

    source: Source

    def derived(self, origin: str) -> str:
        """The origin of the source and what was done to it."""
        return f"{origin}; searched without constraints"

    def load(self) -> Dataset:
        """Load the table and make every column of its schema mutable."""
        data = self.source.load()
        return replace(data, schema=replace(data.schema, columns=tuple(map(_free, data.schema.columns))))


def _free(column: Column) -> Column:
    return replace(column, kind="number" if column.kind == "integer" else column.kind, mutable=True)
