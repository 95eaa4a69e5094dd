"""Rows of people who ask, read with a schema that is known already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Bools, Column, Floats, Schema
from jali.data.tables.columns import read_numbers
from jali.data.tables.schema_files import label

if TYPE_CHECKING:
    import pandas as pd


class Read(NamedTuple):
    """Raw rows (n, D), and for each of them what cannot be read, empty where all can."""

    X: Floats
    problem: tuple[str, ...]

    @property
    def usable(self) -> Bools:
        """Which rows (n,) can be read."""
        return np.array([not text for text in self.problem], dtype=bool)


@dataclass(frozen=True)
class RowReader:
    """Reads one person (a mapping, a Series, or a list of values) or many (a frame, a list of mappings, an array).

    Columns that the schema does not name are ignored. Rows are judged one by one: a row with a gap, or with a category
    that the schema does not have, is marked, and the others are read. What is said about a row names the column only.

    >>> job = Column("job", "category", categories=("clerk", "smith"))
    >>> two = [{"age": 30, "job": "smith"}, {"age": 30, "job": "-"}]
    >>> read = RowReader(Schema((Column("age", "integer"), job)))(two)
    >>> read.X[0], read.problem
    (array([30.,  1.]), ('', "Column 'job' holds a category that is not known here."))
    """

    schema: Schema

    def __call__(self, rows: Any) -> Read:
        """The raw rows, and what cannot be read."""
        table = self._table(rows)
        X = np.zeros((len(table), len(self.schema.columns)))
        problem = [""] * len(table)
        for j, column in enumerate(self.schema.columns):
            X[:, j], wrong, what = _values(table[column.name], column)
            for i in np.flatnonzero(wrong):
                problem[i] = problem[i] or f"Column {column.name!r} {what}."
        X[[bool(text) for text in problem]] = 0.0
        return Read(X, tuple(problem))

    def _table(self, rows: Any) -> pd.DataFrame:
        """The rows as a table that has all columns of the schema."""
        import pandas as pd

        names = [column.name for column in self.schema.columns]
        if isinstance(rows, pd.DataFrame):
            table = rows
        elif isinstance(rows, pd.Series):
            table = pd.DataFrame([rows.to_dict()])
        elif isinstance(rows, Mapping):
            table = pd.DataFrame([dict(rows)])
        elif isinstance(rows, list) and rows and isinstance(rows[0], Mapping):
            table = pd.DataFrame(rows)
        else:
            table = _unnamed(rows, names)
        table = table.set_axis([str(c) for c in table.columns], axis=1).reset_index(drop=True)
        if missing := [name for name in names if name not in table.columns]:
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            raise JaliError(f"The rows lack the column {missing[0]!r}{more}: give all columns that the model reads.")
        if repeated := [name for name in names if isinstance(table[name], pd.DataFrame)]:
            raise JaliError(f"The rows have the column {repeated[0]!r} more than once: rename or drop one.")
        return table


def _unnamed(rows: Any, names: list[str]) -> pd.DataFrame:
    """Values without names, in the order of the schema."""
    import pandas as pd

    try:
        array = np.asarray(rows, dtype=object)
    except ValueError:
        array = np.zeros(0)
    array = array[None] if array.ndim == 1 and len(array) else array
    if array.ndim != 2 or array.shape[1] != len(names):
        raise JaliError(
            f"Rows must be a frame, a mapping of column to value, or an array of {len(names)} columns, not "
            f"{type(rows).__name__} of shape {array.shape}."
        )
    return pd.DataFrame(array, columns=names)


def _values(values: pd.Series[Any], column: Column) -> tuple[Floats, Bools, str]:
    """The raw values (n,) of a column, which of them (n,) cannot be read, and why."""
    import pandas as pd

    if column.kind == "category":
        place = {name: at for at, name in enumerate(column.categories)}
        codes = np.array([-1 if pd.isna(v) else place.get(label(v), -1) for v in values], dtype=np.float64)
        return np.maximum(codes, 0.0), codes < 0, "holds a category that is not known here"
    if column.date and values.dtype.kind not in "iuf":
        x = _days(values)
        return np.where(np.isnan(x), 0.0, x), np.isnan(x), "holds a missing value or something that is not a date"
    if values.dtype.kind == "M":
        return np.zeros(len(values)), np.ones(len(values), dtype=bool), "holds a date, and is a number here"
    x = read_numbers(values).to_numpy(np.float64, na_value=np.nan)
    wrong = ~np.isfinite(x)
    if column.kind == "integer":
        broken = ~wrong & (np.where(wrong, 0.0, x) % 1 != 0)
        if broken.any() and not wrong.any():
            return np.where(broken, 0.0, x), broken, "holds a number that is not whole"
        wrong = wrong | broken
    return np.where(wrong, 0.0, x), wrong, "holds a missing value or something that is not a number"


def _days(values: pd.Series[Any]) -> Floats:
    """Dates (n,) as days since 1970-01-01, NaN where there is none; texts are written as yyyy-mm-dd."""
    import pandas as pd

    stamps = pd.Series([pd.to_datetime(v, errors="coerce", utc=True) for v in values], dtype="datetime64[ns, UTC]")
    days = (stamps - pd.Timestamp("1970-01-01", tz="UTC")) / pd.Timedelta(days=1)
    return np.asarray(days.to_numpy(np.float64, na_value=np.nan), dtype=np.float64)
