"""Tables in files: delimited text and Parquet, read and never run."""

from __future__ import annotations

import gzip
import zlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from jali.core.errors import JaliError
from jali.data.tables import frames, pieces
from jali.store import GIGABYTE, MOST

if TYPE_CHECKING:
    import pandas as pd

LARGE = 20_000_000  # bytes of a file that is read in pieces
SEPARATORS = {".csv": ",", ".tsv": "\t"}
SMALL = GIGABYTE  # bytes that any file may unpack to
PACKED = 200  # bytes that a byte of a real table unpacks to at most; a bomb has a thousand and more
CHUNK = 1 << 20


def read(path: Path, loosely: bool = False) -> pd.DataFrame:
    """The table in a .csv or .tsv file, plain or .gz, or in a .parquet file.

    loosely: names may be missing or repeated, and values may be separated by another sign, as in tables that were not
    written for jali. Columns without a name of their own are numbered.
    """
    packed = path.suffix.lower() == ".gz"
    ending = (path.with_suffix("") if packed else path).suffix.lower()
    if not path.is_file():
        raise JaliError(f"There is no file {path}: give the path of a .csv, .tsv or .parquet file on this machine.")
    try:
        if ending in SEPARATORS:
            if packed:
                _check_size(path, _unpacked(path))
            return _delimited(path, SEPARATORS[ending], loosely)
        if ending == ".parquet":
            return _parquet(path)
    except JaliError:
        raise
    except UnicodeDecodeError:
        raise JaliError(f"{path} is not text in UTF-8: save it in that encoding.") from None
    except (ValueError, OSError, EOFError, zlib.error) as error:
        reason = str(error).strip().split("\n")[0]
        raise JaliError(f"Cannot read {path}: {reason.rstrip('.')}; expected a table with a header line.") from None
    except (TypeError, LookupError, ArithmeticError, RuntimeError, MemoryError) as error:  # it lies about itself
        raise JaliError(f"Cannot read {path}: it is damaged ({type(error).__name__}); save it again.") from None
    raise JaliError(f"Cannot read {path.name}: jali reads .csv and .tsv, also with .gz, and .parquet files.")


def _unpacked(path: Path) -> int:
    """The bytes that a .gz file unpacks to, counted up to the limit; nothing is kept."""
    total = 0
    with gzip.open(path) as file:
        while total <= MOST and (some := len(file.read(CHUNK))):
            total += some
    return total


def _check_size(path: Path, size: float) -> None:
    """Refuse a file that unpacks to more than a real table of its size would."""
    if size > MOST or size > max(SMALL, PACKED * path.stat().st_size):
        raise JaliError(
            f"{path} has {path.stat().st_size / GIGABYTE:.3g} GB and would take {size / GIGABYTE:.3g} GB or more: if "
            "you trust it, read it with pandas and pass the table to jali.audit in Python."
        )


def _delimited(path: Path, separator: str, loosely: bool) -> pd.DataFrame:
    """Read delimited text; the header is read apart, because pandas would rename empty or repeated names."""
    import pandas as pd

    names = _header(path, separator)
    if loosely:
        separator = next((sign for sign in ";\t|" if len(names) == 1 and sign in names[0]), separator)
        found = _header(path, separator)
        names = [n if n.strip() and n not in found[:k] else f"column {k + 1}" for k, n in enumerate(found)]
    frames.check_names(names)
    frame = _rows(path, separator, names)
    if not frame.index.equals(pd.RangeIndex(len(frame))):
        raise JaliError(f"The rows of {path} have more fields than its header has names ({len(names)}){_why(names)}.")
    return frame


def _header(path: Path, separator: str) -> list[str]:
    """The first line."""
    import pandas as pd

    first = pd.read_csv(
        path, sep=separator, header=None, nrows=1, dtype=str, keep_default_na=False, encoding="utf-8-sig"
    )
    return [str(name) for name in first.iloc[0]]


def _why(names: list[str]) -> str:
    """What may be wrong with a header of few names.

    >>> _why(["age;income"])
    ": are they separated by ';'? Save the file with commas, and numbers with a decimal point"
    """
    other = next((sign for sign in ";\t|" if len(names) == 1 and sign in names[0]), "")
    return f": are they separated by {other!r}? Save the file with commas, and numbers with a decimal point" * bool(
        other
    )


def _rows(path: Path, separator: str, names: list[str]) -> pd.DataFrame:
    """The rows; those of a large file in pieces."""
    import pandas as pd

    read = partial(pd.read_csv, path, sep=separator, header=0, names=names, encoding="utf-8-sig", low_memory=False)
    if path.stat().st_size > LARGE:
        return pieces.whole(read)
    frame: Any = read()
    return cast("pd.DataFrame", frame)


def _parquet(path: Path) -> pd.DataFrame:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise JaliError("Reading .parquet files needs pyarrow: pip install 'jali-audit[parquet]'.") from None
    _check_parquet(path)
    return pieces.by_column(path, frames.check_names)


def _check_parquet(path: Path) -> None:
    """Refuse a Parquet file that is too large by what it declares or unpacks to, or whose texts cannot be decoded.

    A text that repeats is stored once, so that a few kilobytes can unpack to gigabytes; texts are counted as they are
    stored, before anything is unpacked.
    """
    from pyarrow import parquet, types

    with parquet.ParquetFile(path) as file:
        for field in file.schema_arrow:
            if types.is_nested(field.type) and _holds_texts(field.type):
                raise JaliError(f"Column {field.name!r} of {path} holds lists of texts: leave it out.")
        texts = [field.name for field in file.schema_arrow if _is_bytes(field.type)]
        groups = [file.metadata.row_group(k) for k in range(file.metadata.num_row_groups)]
        values = sum(max(0, group.column(k).num_values) for group in groups for k in range(group.num_columns))
        _check_size(path, 8.0 * max(values, file.metadata.num_rows * max(file.metadata.num_columns, 1)))
    if texts:
        _check_texts(path, texts, 8.0 * values)


def _check_texts(path: Path, names: list[str], size: float) -> None:
    """Count the bytes of texts, and decode each different one; size: bytes that were counted before."""
    from pyarrow import parquet, types

    with parquet.ParquetFile(path, read_dictionary=names) as file:
        for piece in file.iter_batches(columns=names):
            for column in piece.columns:
                stored = column.dictionary if types.is_dictionary(column.type) else column
                stored.validate(full=True)  # pandas decodes texts when they are used, which may be anywhere
                size += _bytes_of(column)
            _check_size(path, size)


def _bytes_of(column: Any) -> float:
    """The bytes of a column of texts, each counted as often as it occurs."""
    from pyarrow import compute, types

    if not types.is_dictionary(column.type):
        return float(compute.sum(compute.binary_length(column)).as_py() or 0)
    lengths = compute.binary_length(column.dictionary)
    return float(compute.sum(lengths.take(column.indices)).as_py() or 0)


def _is_bytes(kind: Any) -> bool:
    from pyarrow import types

    text = types.is_string(kind) or types.is_large_string(kind)
    return bool(text or types.is_binary(kind) or types.is_large_binary(kind))


def _holds_texts(kind: Any) -> bool:
    """Whether a nested type has texts somewhere inside."""
    from pyarrow import types

    if not types.is_nested(kind):
        return _is_bytes(kind)
    return any(_holds_texts(kind.field(k).type) for k in range(kind.num_fields))
