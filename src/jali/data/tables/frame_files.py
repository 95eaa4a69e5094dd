"""Tables in files: delimited text and Parquet, read and never run."""

from __future__ import annotations

import zlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from jali.core.errors import JaliError
from jali.data.tables import frames, pieces

if TYPE_CHECKING:
    import pandas as pd

LARGE = 20_000_000  # bytes of a file that is read in pieces
SEPARATORS = {".csv": ",", ".tsv": "\t"}


def read(path: Path) -> pd.DataFrame:
    """The table in a .csv or .tsv file, plain or .gz, or in a .parquet file."""
    ending = (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()
    if not path.is_file():
        raise JaliError(f"There is no file {path}: give the path of a .csv, .tsv or .parquet file on this machine.")
    try:
        if ending in SEPARATORS:
            return _delimited(path, SEPARATORS[ending])
        if ending == ".parquet":
            return _parquet(path)
    except JaliError:
        raise
    except UnicodeDecodeError:
        raise JaliError(f"{path} is not text in UTF-8: save it in that encoding.") from None
    except (ValueError, OSError, EOFError, zlib.error) as error:
        reason = str(error).strip().split("\n")[0]
        raise JaliError(f"Cannot read {path}: {reason.rstrip('.')}; expected a table with a header line.") from None
    raise JaliError(f"Cannot read {path.name}: jali reads .csv and .tsv, also with .gz, and .parquet files.")


def _delimited(path: Path, separator: str) -> pd.DataFrame:
    """Read delimited text; the header is read apart, because pandas would rename empty or repeated names."""
    import pandas as pd

    header = pd.read_csv(
        path, sep=separator, header=None, nrows=1, dtype=str, keep_default_na=False, encoding="utf-8-sig"
    )
    names = header.iloc[0].tolist()
    frames.check_names(names)
    frame = _rows(path, separator, names)
    if not frame.index.equals(pd.RangeIndex(len(frame))):
        raise JaliError(f"The rows of {path} have more fields than its header has names ({len(names)}).")
    return frame


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
    import pandas as pd

    return pd.read_parquet(path, engine="pyarrow")
