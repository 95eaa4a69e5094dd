"""Another data set with columns that are declared, not taken from its rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from jali.core.errors import JaliError
from jali.core.protocols import Source
from jali.core.values import Column, Dataset, Floats, Ints, Schema
from jali.data.tables import schema_files as _declared
from jali.data.tables.wrapped import Wrapped


@dataclass(frozen=True)
class DeclaredColumns(Wrapped):
    """Another data set whose bounds, centre and spread, categories or classes are those of a schema file.

    A guarantee of differential privacy holds only where these were known without looking at the rows. Many tables take
    them from their rows; this replaces them. The file is the one that `table` reads. Rows with other values are an
    error, so what is declared must be wide enough for everybody who could have been in the table.

    >>> from jali.data.lending import Lending
    >>> DeclaredColumns(Lending(n=50), "columns.toml").schema
    'columns.toml'
    """

    source: Source
    schema: str

    def derived(self, origin: str) -> str:
        """The origin of the source and what was done to it."""
        return f"{origin}; columns declared in a schema file"

    def load(self) -> Dataset:
        """Load the table and replace what is declared."""
        data = self.source.load()
        known = _declared.given(self.schema) or _declared.Declared()
        names = [c.name for c in data.schema.columns]
        if unknown := [name for name in known.columns if name not in names]:
            raise JaliError(f"{self.schema}: there is no column {unknown[0]!r}; there are {', '.join(names)}.")
        X = data.X.copy()
        columns = list(data.schema.columns)
        for j, old in enumerate(columns):
            if old.name in known.columns:
                X[:, j], columns[j] = _replaced(X[:, j], old, known.columns[old.name])
        schema = replace(data.schema, columns=tuple(columns))
        y, schema = _outcome(data.y, schema, known.classes) if known.classes else (data.y, schema)
        return Dataset(X, y, schema, data.groups)


def _replaced(x: Floats, old: Column, new: Column) -> tuple[Floats, Column]:
    """The values (N,) of a column under its declaration, and the column; role and mutability stay."""
    column = replace(new, mutable=old.mutable, role=old.role)
    if (old.kind == "category") != (new.kind == "category"):
        raise JaliError(f"Column {old.name!r} is declared as {new.kind}, but the data have it as {old.kind}.")
    if new.kind == "category":
        return _recoded(x, old.categories, new.categories, f"Column {old.name!r}"), column
    _declared.check_values(x, new)
    return x, column


def _outcome(y: Ints, schema: Schema, classes: tuple[str, ...]) -> tuple[Ints, Schema]:
    """The labels (N,) as positions among declared classes, and the schema with these."""
    hoped = schema.favourable
    if hoped is not None and schema.classes[hoped] not in classes:
        raise JaliError(f"The favourable class {schema.classes[hoped]!r} is none of the declared {', '.join(classes)}.")
    favourable = None if hoped is None else classes.index(schema.classes[hoped])
    coded = _recoded(y, schema.classes, classes, f"The target {schema.target!r}")
    return coded.astype(np.int64), replace(schema, classes=classes, favourable=favourable, outcome="declared")


def _recoded(codes: Floats | Ints, old: tuple[str, ...], new: tuple[str, ...], where: str) -> Floats:
    """Positions (N,) among the old names as positions among the new ones."""
    place = np.array([new.index(name) if name in new else -1 for name in old], dtype=np.float64)
    out = np.asarray(place[codes.astype(np.int64)])
    if unknown := int((out < 0).sum()):
        raise JaliError(f"{where}: {unknown} rows have none of the {len(new)} declared names.")
    return out
