"""Large files of delimited text, read in pieces: pandas alone would need three times the memory of the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

CHUNK = 50_000  # rows
Read = Callable[..., Any]  # pandas.read_csv with the file and its names


def whole(read: Read, chunk: int = CHUNK) -> pd.DataFrame:
    """The table in a file: read once to see what each column holds, and once for the values.

    Columns have the types that pandas finds for the whole file, except that texts are pandas categories: these hold
    each text once.
    """
    import pandas as pd

    kinds = _kinds(read(chunksize=chunk))
    columns: dict[Any, list[Any]] = {name: [] for name in kinds}
    for piece in read(chunksize=chunk, dtype=kinds):
        for name in kinds:
            values = piece[name]
            columns[name].append(pd.Categorical(values) if kinds[name] is str else values.to_numpy().copy())
    joined = {}
    for name in kinds:
        parts = columns.pop(name)
        joined[name] = pd.api.types.union_categoricals(parts) if kinds[name] is str else np.concatenate(parts)
    return pd.DataFrame(joined, copy=False)


def _kinds(pieces: Iterator[pd.DataFrame]) -> dict[Any, Any]:
    """The type of each column, from all pieces: numbers, truth values, or texts."""
    import pandas as pd

    seen: dict[Any, set[str]] = {}
    for piece in pieces:
        if not isinstance(piece.index, pd.RangeIndex):
            raise ValueError("its rows have more fields than its header has names")
        for name in piece.columns:
            empty = bool(piece[name].isna().all())
            seen.setdefault(name, set()).update("f" if empty else piece[name].dtype.kind)
    return {name: _type(kinds) for name, kinds in seen.items()}


def _type(kinds: set[str]) -> Any:
    """The type that holds all pieces of a column.

    >>> _type({"i", "f"}), _type({"i", "O"}), _type({"b"})
    (<class 'numpy.float64'>, <class 'str'>, <class 'bool'>)
    """
    if kinds == {"b"}:
        return bool
    if kinds <= {"i"}:
        return np.int64
    return np.float64 if kinds <= {"i", "u", "f"} else str
