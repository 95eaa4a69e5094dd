"""Another data set without some of its columns."""

from __future__ import annotations

from dataclasses import dataclass, replace

from jali.core.errors import JaliError
from jali.core.protocols import Source
from jali.core.values import Dataset
from jali.data.tables.wrapped import Wrapped


@dataclass(frozen=True)
class Without(Wrapped):
    """Another data set without some of its columns, as if they had never been collected.

    >>> from jali.data.lending import Lending
    >>> whole = Lending(n=20)
    >>> names = [column.name for column in whole.load().schema.columns]
    >>> kept = [column.name for column in Without(whole, (names[0],)).load().schema.columns]
    >>> kept == names[1:]
    True
    """

    source: Source
    columns: tuple[str, ...]

    def derived(self, origin: str) -> str:
        """The origin of the source and what was done to it."""
        return f"{origin}; without {', '.join(self.columns)}"

    def load(self) -> Dataset:
        """Load the table and drop the columns."""
        data = self.source.load()
        names = [column.name for column in data.schema.columns]
        if unknown := [name for name in self.columns if name not in names]:
            raise JaliError(f"without: there is no column {unknown[0]!r}; there are {', '.join(names)}.")
        kept = [j for j, name in enumerate(names) if name not in self.columns]
        sensitive = None if data.schema.sensitive in self.columns else data.schema.sensitive
        schema = replace(
            data.schema, columns=tuple(data.schema.columns[j] for j in kept), sensitive=sensitive, image=None
        )
        return Dataset(data.X[:, kept], data.y, schema, data.groups)
