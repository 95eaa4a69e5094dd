"""Large files, read in pieces: pandas alone would need three to five times the memory of the table."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

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

    kinds, rows = _kinds(read(chunksize=chunk))
    numbers = {name: pages(rows, kind) for name, kind in kinds.items() if kind is not str}
    texts: dict[Any, list[Any]] = {name: [] for name, kind in kinds.items() if kind is str}
    at = 0
    for piece in read(chunksize=chunk, dtype=kinds):
        for name, values in numbers.items():
            values[at : at + len(piece)] = piece[name].to_numpy()
        for name, parts in texts.items():
            parts.append(pd.Categorical(piece[name]))
        at += len(piece)
    joined = {name: pd.api.types.union_categoricals(parts) for name, parts in texts.items()}
    return pd.DataFrame({name: numbers[name] if name in numbers else joined[name] for name in kinds}, copy=False)


def pages(rows: int, kind: Any) -> npt.NDArray[Any]:
    """An empty column (rows,) in memory of its own, which goes back to the system as soon as nobody holds it.

    Arrays of a few megabytes come from memory that the process keeps for later; tables have many of them.

    >>> pages(3, np.int64).tolist()
    [0, 0, 0]
    """
    kind = np.dtype(kind)
    return np.frombuffer(mmap.mmap(-1, max(1, rows * kind.itemsize)), kind, rows)


def by_column(path: Path, check_names: Callable[[list[str]], None]) -> pd.DataFrame:
    """The table in a Parquet file, read column by column, so that it never exists in two forms.

    Columns have the types that pandas finds, except that texts are pandas categories: these hold each text once.
    """
    import pandas as pd
    import pyarrow
    from pyarrow import parquet

    with parquet.ParquetFile(path, pre_buffer=False) as file:
        names = _names(file.schema_arrow)
        check_names(names)
        columns = {}
        for name in names:
            read = file.read(columns=[name], use_threads=False).select([name])
            columns[name] = _moved(read.to_pandas(strings_to_categorical=True).iloc[:, 0])
            del read
            pyarrow.default_memory_pool().release_unused()
    return pd.DataFrame(columns, copy=False)


def _names(schema: Any) -> list[str]:
    """The names of the columns, without the index that pandas wrote beside them."""
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    return [name for name in schema.names if name not in index]


def _moved(values: pd.Series[Any]) -> Any:
    """The values of a column in memory of its own."""
    if not isinstance(values.dtype, np.dtype) or values.dtype.hasobject:
        return values.array.copy()
    out = pages(len(values), values.dtype)
    out[:] = values.to_numpy()
    return out


def _kinds(pieces: Iterator[pd.DataFrame]) -> tuple[dict[Any, Any], int]:
    """The type of each column, from all pieces: numbers, truth values, or texts; and how many rows there are."""
    import pandas as pd

    seen: dict[Any, set[str]] = {}
    rows = 0
    for piece in pieces:
        if not isinstance(piece.index, pd.RangeIndex):
            raise ValueError("its rows have more fields than its header has names")
        rows += len(piece)
        for name in piece.columns:
            empty = bool(piece[name].isna().all())
            seen.setdefault(name, set()).update("f" if empty else piece[name].dtype.kind)
    return {name: _type(kinds) for name, kinds in seen.items()}, rows


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
