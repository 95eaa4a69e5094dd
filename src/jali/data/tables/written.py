"""Columns of files as they were meant: dates with times, decimals; and texts that nobody can have meant as texts."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence, Sized
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from jali.core.errors import JaliError

if TYPE_CHECKING:
    import pandas as pd

    Values = pd.Series[Any]

MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?")
ZONE = re.compile(r":\d{2}.*(Z|[+-]\d{2}:?\d{2})$")  # at the end of a time
NUMBER = re.compile(r"[-+]?[$€£]?[-+]?\d[\d.,' ]*([eE][-+]?\d+)?\s?[%$€£]?")
DAY = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}([T ].*)?")
SEVERAL = 10  # different texts: fewer may be codes
MOST = 0.9  # of the different texts


def meant(values: Values) -> Values:
    """The same column, with dates as pandas has them and decimals as floats, where it holds these as objects or texts.

    >>> import pandas as pd
    >>> meant(pd.Series(["2020-01-01T12:00", None])).dt.hour.tolist()
    [12.0, nan]
    """
    import pandas as pd

    first = _first(values)
    if isinstance(first, Decimal):
        return values.astype(np.float64)
    if isinstance(first, datetime.date):
        return pd.to_datetime(values, errors="coerce")
    if not isinstance(first, str) or not MOMENT.fullmatch(first):
        return values
    codes, distinct = pd.factorize(values)
    texts = [str(text) for text in distinct]
    if not all(MOMENT.fullmatch(text) for text in texts):
        return values
    found = _moments(texts)
    if found.isna().any():  # 2020-02-30 is written like a date and is none
        return values
    moments = pd.DatetimeIndex([*found, pd.NaT])  # the last one, which code -1 finds, is missing
    return pd.Series(moments.take(codes), index=values.index, name=values.name)


def _moments(texts: Sequence[str]) -> Values:
    """Dates and times in universal time; those that name no zone are taken to be in it already.

    Both kinds are read apart: pandas 2 reads a time without a zone in the zone of the text before it.
    """
    import pandas as pd

    written = pd.Series(texts, dtype=object)
    out = pd.Series(pd.NaT, index=written.index, dtype="datetime64[us]")
    zoned = np.array([bool(ZONE.search(text)) for text in texts])
    for part in (written[zoned], written[~zoned]):
        read = pd.to_datetime(part, format="ISO8601", utc=True, errors="coerce")
        out[part.index] = read.dt.tz_localize(None).astype("datetime64[us]")
    return out


def check(values: Values) -> None:
    """Refuse cells that hold several values, and texts that are nearly all numbers or dates in another spelling.

    Left as they are, such columns would be read as categories, or be left out because each row has another text.
    """
    first = _first(values)
    if isinstance(first, Sized) and not isinstance(first, str | bytes):
        raise JaliError(
            f"Column {str(values.name)!r} holds a {type(first).__name__} in each cell, and one value was expected: "
            "make columns of its parts, or drop it."
        )
    if not isinstance(first, str):
        return
    texts = [str(text).strip() for text in values[values.notna()].unique()]
    if len(texts) < SEVERAL:
        return
    advice = f"or say what it is with --kind {values.name}=category or --drop {values.name}."
    if _share(DAY, texts) >= MOST:
        raise JaliError(
            f"Column {str(values.name)!r} seems to hold dates in a spelling that has several readings: write them as "
            f"yyyy-mm-dd, {advice}"
        )
    if _share(NUMBER, texts) >= MOST:
        raise JaliError(
            f"Column {str(values.name)!r} seems to hold numbers, but some of its texts are none: write all with a "
            f"decimal point and without other signs, leave missing ones empty, {advice}"
        )


def _share(pattern: re.Pattern[str], texts: list[str]) -> float:
    return sum(pattern.fullmatch(text) is not None for text in texts) / len(texts)


def _first(values: Values) -> Any:
    """The first value that is there, of a column of objects, texts or categories; of others nothing."""
    if isinstance(values.dtype, np.dtype) and values.dtype.kind != "O":
        return None
    at = values.first_valid_index()
    return None if at is None else values.loc[at]
