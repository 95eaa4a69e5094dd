"""Raw rows as the table or array that a model was fitted on, for many small calls."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from jali.core.values import Column, Floats, Schema
from jali.data.tables.columns import DATE
from jali.data.tables.frames import Like, LikeColumn, frame, restored

if TYPE_CHECKING:
    import pandas as pd

Values = Any  # an array of numpy, or of pandas for text, categories and nullable numbers
Convert = Callable[[Floats], Values]


class Rebuilder:
    """Rebuilds the table of raw rows (n, D), with the values and dtypes of `like` if that is given.

    It gives what `restored(frame(X, schema), like)` gives, as a pandas table or as an array of its values. A model is
    asked about 256 rows at a time, so whatever does not depend on the rows is made once: the values of all categories,
    the names of the columns, and whether all columns are numbers of one dtype, which need no table in between.

    >>> schema = Schema((Column("age", "integer"), Column("sex", "category", categories=("f", "m"))))
    >>> Rebuilder(schema, "frame")(np.array([[30.0, 1.0]])).to_dict("records")
    [{'age': 30, 'sex': 'm'}]
    """

    def __init__(self, schema: Schema, inputs: Literal["frame", "array"], like: Like | None = None) -> None:
        self.inputs = inputs
        self.as_they_are = inputs == "array" and like is None
        wanted = [None] * len(schema.columns) if like is None else like.columns
        self.names = [column.name for column in (schema.columns if like is None else like.columns)]
        self.whole = np.array([column.kind == "integer" for column in schema.columns], dtype=bool)
        self.dtype = _common(schema, wanted)
        pairs = zip(schema.columns, wanted, strict=True)
        self.convert = [] if self.as_they_are or self.dtype else [_converter(c, w) for c, w in pairs]

    def __call__(self, X: Floats) -> Any:
        """Raw rows in the form the model was fitted on; the caller may change what it is given."""
        if self.as_they_are:
            return np.asarray(X)
        if self.dtype is not None:
            numbers = self._numbers(X, self.dtype)
            return numbers if self.inputs == "array" else self._named(numbers)
        table = self._named({j: _settled(convert(X[:, j])) for j, convert in enumerate(self.convert)})
        return table if self.inputs == "frame" else table.to_numpy()

    def _numbers(self, X: Floats, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """The rows (n, D) as numbers of one dtype, column by column in memory, as pandas keeps them."""
        out = np.array(X, order="F")
        out[:, self.whole] = np.rint(out[:, self.whole]) + 0.0  # integers have no negative zero
        return out.astype(dtype, order="F", copy=False)

    def _named(self, columns: Any) -> pd.DataFrame:
        import pandas as pd

        table = pd.DataFrame(columns, copy=False)
        table.columns = pd.Index(self.names)
        return table


def _settled(values: Values) -> Values:
    """Values whose dtype pandas does not guess again: it takes an array of objects that are all texts for text."""
    import pandas as pd

    return pd.Series(values, dtype=object) if values.dtype == object else values


def _common(schema: Schema, wanted: Any) -> np.dtype[Any] | None:
    """The one dtype of a table of numbers, or None where columns differ or hold anything else."""
    kinds = {column.kind for column in schema.columns}
    dtypes = {_dtype(column, like) for column, like in zip(schema.columns, wanted, strict=True)}
    dtype = dtypes.pop()
    if dtypes or "category" in kinds or not isinstance(dtype, np.dtype):
        return None
    return dtype if dtype.kind == "f" or (dtype.kind == "i" and kinds == {"integer"}) else None


def _dtype(column: Column, like: LikeColumn | None) -> Any:
    if like is not None:
        return like.dtype
    return np.dtype(np.int64 if column.kind == "integer" and not column.missing else np.float64)


def _converter(column: Column, like: LikeColumn | None) -> Convert:
    """The raw values (n,) of a column to those of the table."""
    if column.kind != "category":
        return _Dates(like) if like is not None and _dated(like) else _Number(column, like)
    schema = Schema((column,))
    try:
        every = _column(np.arange(len(column.categories), dtype=np.float64), schema, like)
    except (ValueError, TypeError):  # a category that nobody has may be no value of the column's dtype
        return _Text(schema, like)
    return _Lookup(every)


def _column(x: Floats, schema: Schema, like: LikeColumn | None) -> Values:
    """The values (n,) of a table with one column."""
    table = frame(x[:, None], schema)
    return _array((table if like is None else restored(table, Like((like,)))).iloc[:, 0])


def _array(values: pd.Series[Any]) -> Values:
    return values.to_numpy() if isinstance(values.dtype, np.dtype) else values.array


class _Number:
    """Numbers with the dtype of the table."""

    def __init__(self, column: Column, like: LikeColumn | None) -> None:
        self.whole = column.kind == "integer" and not column.missing
        self.dtype = _dtype(column, like)

    def __call__(self, x: Floats) -> Values:
        import pandas as pd

        numbers = np.rint(x).astype(np.int64) if self.whole else np.array(x)
        return numbers if numbers.dtype == self.dtype else _array(pd.Series(numbers).astype(self.dtype))


def _dated(like: LikeColumn) -> bool:
    """Whether a column of the table that is read as numbers holds dates, or texts that are dates."""
    some = next((value for value in (like.names or {}).values() if isinstance(value, str)), None)
    return like.dtype.kind == "M" or (some is not None and re.fullmatch(DATE, some) is not None)


class _Dates:
    """Days since 1970-01-01 as dates of the table's type, or as texts yyyy-mm-dd where the table has texts."""

    def __init__(self, like: LikeColumn) -> None:
        self.dtype = like.dtype
        self.absent = None if like.names is None else [v for v in like.names.values() if not isinstance(v, str)]

    def __call__(self, x: Floats) -> Values:
        import pandas as pd

        stamps = pd.Series(pd.to_datetime(x, unit="D"))
        if self.absent is not None:
            written = stamps.dt.strftime("%Y-%m-%d").astype(object)
            gap = self.absent[0] if self.absent else None
            return _array(written.where(stamps.notna(), gap).astype(self.dtype))
        zone = getattr(self.dtype, "tz", None)
        return _array((stamps if zone is None else stamps.dt.tz_localize("UTC").dt.tz_convert(zone)).astype(self.dtype))


class _Lookup:
    """Category codes, looked up among the values of all categories."""

    def __init__(self, every: Values) -> None:
        self.every = every

    def __call__(self, x: Floats) -> Values:
        return self.every.take(np.rint(x).astype(np.int64))


class _Text:
    """Category codes, converted again for each call."""

    def __init__(self, schema: Schema, like: LikeColumn | None) -> None:
        self.schema = schema
        self.like = like

    def __call__(self, x: Floats) -> Values:
        return _column(x, self.schema, self.like)
