"""What a scan reads: tables found in objects and files, by where they lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from jali.core.values import Floats

Values = npt.NDArray[Any]  # (r,) numbers as float64, or texts
WIDEST = 5000  # columns of a table that is compared


@dataclass(frozen=True, eq=False)
class Piece:
    """A table of r rows that was found: columns, each (r,) of numbers or texts, their names if it has any.

    where: the file and the path within it; parts of a list are not numbered, so that they are reported together.
    library: the library whose object holds it, empty if unknown.
    """

    where: str
    columns: tuple[Values, ...]
    names: tuple[str, ...] | None = None
    library: str = ""

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return len(self.columns[0])


@dataclass(frozen=True, eq=False)
class Counts:
    """Whole numbers that count people, such as the people in a bin."""

    where: str
    values: Floats
    library: str = ""


def column_of(values: Any) -> Values | None:
    """A list or array of single values as numbers or texts; None if it holds anything else.

    >>> column_of([1, 2.5, None]), column_of(["a", 1]), column_of([[1]])
    (array([1. , 2.5, nan]), array(['a', '1'], dtype='<U1'), None)
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return values.astype(np.float64) if values.ndim == 1 else None
    if isinstance(values, np.ndarray) and values.dtype.kind == "U":
        return values if values.ndim == 1 else None
    some = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if not all(single(v) for v in some):
        return None
    if all(v is None or isinstance(v, int | float | np.number | np.bool_) for v in some):
        try:
            return np.array([np.nan if v is None else float(v) for v in some])
        except OverflowError:
            return None
    return np.array(["" if v is None else str(v) for v in some])


def single(value: Any) -> bool:
    """Whether a value is one number, text or gap."""
    return value is None or isinstance(value, int | float | str | np.number | np.bool_ | np.str_)


def table(
    where: str, columns: Sequence[Any], names: Sequence[Any] | None = None, library: str = "", least: int = 2
) -> Piece | None:
    """A piece of columns given as lists or arrays; None where they are no table."""
    if not least <= len(columns) <= WIDEST:
        return None
    made = [column_of(column) for column in columns]
    if any(column is None for column in made) or len({len(c) for c in made if c is not None}) != 1:
        return None
    kept = tuple(column for column in made if column is not None)
    if not len(kept[0]):
        return None
    return Piece(where, kept, None if names is None else tuple(str(n) for n in names), library)


def array_pieces(where: str, array: Values, library: str = "") -> list[Piece]:
    """The rows of an array: two axes as they are, three or more as the tables along the last two axes together."""
    if array.dtype.kind not in "biufUO" or array.ndim < 2 or not array.size:
        return []
    flat = array.reshape(-1, array.shape[-1])
    if not 2 <= flat.shape[1] <= WIDEST:
        return []
    if flat.dtype.kind in "biuf":
        numbers = flat.astype(np.float64)
        return [Piece(where, tuple(numbers.T), None, library)]
    made = table(where, [list(column) for column in flat.T], None, library)
    return [] if made is None else [made]
