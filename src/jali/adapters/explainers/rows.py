"""Rows in a user's own form, such as counterfactuals, read back as raw rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from jali.adapters.explainers.has import has
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Bools, Column, Floats, Schema
from jali.data.tables.frames import label


def read(rows: Any, schema: Schema) -> tuple[Floats, Bools]:
    """Raw rows (n, D) of a table or an array, and which of them (n,) hold legal values only.

    A table is read by its column names, other columns are left out; an array has the columns of the table, or the
    encoded features. In rows that are not legal, cells that cannot be read hold NaN.

    >>> schema = Schema((Column("age"), Column("sex", "category", categories=("f", "m"))))
    >>> read(np.array([[30, "m"], ["x", "f"], [20, "?"]], dtype=object), schema)
    (array([[30.,  1.],
           [nan,  0.],
           [20., nan]]), array([ True, False, False]))
    """
    if has(rows, "columns", "iloc"):
        columns = _of_table(rows, schema)
    else:
        array = np.asarray(rows)
        width = len(schema.columns)
        if array.ndim != 2 or array.shape[1] not in (width, len(Encoding(schema).source)):
            raise JaliError(
                f"Rows with the {width} columns of the table were expected, not an array of shape {array.shape}."
            )
        if array.shape[1] != width:
            return _of_features(array, schema)
        columns = list(array.T)
    pairs = zip(columns, schema.columns, strict=True)
    X = np.stack([_values(values, column) for values, column in pairs], axis=1)
    return X, np.asarray(np.isfinite(X).all(axis=1))


def _of_table(table: Any, schema: Schema) -> list[Any]:
    """The columns of a table in the order of the schema."""
    named = {str(name): j for j, name in enumerate(table.columns)}
    missing = [c.name for c in schema.columns if c.name not in named]
    if missing:
        raise JaliError(
            f"A table with the columns of the data was expected, and {missing[0]!r} is missing: return rows with all "
            f"{len(schema.columns)} columns."
        )
    return [table.iloc[:, named[c.name]].to_numpy(dtype=object) for c in schema.columns]


def _of_features(array: Any, schema: Schema) -> tuple[Floats, Bools]:
    """Raw rows of encoded features (n, P)."""
    Z = np.asarray(array, dtype=np.float64)
    legal = np.asarray(np.isfinite(Z).all(axis=1))
    X = Encoding(schema).decode(np.where(legal[:, None], Z, 0.0))
    X[~legal] = np.nan
    return X, legal


def _values(values: Any, column: Column) -> Floats:
    """The raw values (n,) of one column, NaN where a value cannot be read."""
    if column.kind == "category":
        codes = {name: float(code) for code, name in enumerate(column.categories)}
        return np.array([codes.get(label(value), np.nan) for value in values], dtype=np.float64)
    try:
        return np.array(values, dtype=np.float64)
    except (ValueError, TypeError):
        return np.array([_number(value) for value in values], dtype=np.float64)


def _number(value: Any) -> float:
    try:
        return float(value)
    except (ValueError, TypeError):
        return float("nan")
