"""One column of a pandas table as raw numbers and its entry in the schema."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from jali.core.errors import JaliError
from jali.core.fields import EXACT
from jali.core.values import Column, Floats, Ints, Kind
from jali.data.tables.schema_files import check_values, label

if TYPE_CHECKING:
    import pandas as pd

    Values = pd.Series[Any]

CATEGORIES = 200
GAP = "missing"  # the category of missing texts; in brackets where the table has such a text itself
IDENTIFIER = re.compile(r"(^|[_ .-])(id|uuid|guid|nr|no|number|key|index|ssn|iban)$", re.IGNORECASE)
CAMEL = re.compile(r"[a-z](Id|ID)$")
DATE = r"\d{4}-\d{2}-\d{2}"
FEW = 50  # rows: in a shorter table, values that all differ mean little


def is_text(values: Values) -> bool:
    """Whether a column is categorical: text, booleans or pandas categories."""
    from pandas import CategoricalDtype
    from pandas.api import types

    kind = values.dtype
    named = isinstance(kind, CategoricalDtype) or types.is_bool_dtype(kind)
    return named or types.is_object_dtype(kind) or types.is_string_dtype(kind)


def gaps(values: Values) -> int:
    """How many values are missing."""
    return int(values.isna().to_numpy(dtype=bool).sum())


def infinite(values: Values) -> int:
    """How many values are infinite."""
    return int(np.isinf(values.to_numpy(np.float64, na_value=np.nan)).sum()) if values.dtype.kind == "f" else 0


def texts(values: Values) -> Values:
    """The values of a categorical column as text; missing ones are the first free name of a missing value.

    >>> import pandas as pd
    >>> texts(pd.Series(["cook", None])).tolist()
    ['cook', 'missing']
    """
    absent = values.isna()
    if not absent.any():
        return _as_text(values)
    plain = _as_text(values.astype(object).where(~absent, ""))
    return plain.where(~absent, _free(set(plain.unique())))


def _free(taken: set[str]) -> str:
    """The name of missing texts, which no text has.

    >>> _free({"cook"}), _free({"missing"})
    ('missing', '(missing)')
    """
    name = GAP
    while name in taken:
        name = f"({name})"
    return name


def _as_text(values: Values) -> Values:
    try:
        return values.astype(str)
    except UnicodeDecodeError:
        raise JaliError(f"Column {values.name!r} holds bytes that are no text in UTF-8: drop it.") from None


def kind_of(values: Values, category: bool = False, integer: bool = False) -> Kind:
    """The kind of a column, by its dtype and what is known of it."""
    if category or is_text(values):
        return "category"
    kind = values.dtype.kind
    if kind not in "iuf":
        raise JaliError(f"Column {values.name!r} has type {values.dtype}; make it a number or text, or drop it.")
    return "number" if kind == "f" and not integer else "integer"


def observed(values: Values, kind: Kind, bounds: tuple[float, float] | None) -> tuple[Floats, Column]:
    """The raw values (N,) of a column, and its entry in the schema, taken from the rows where nothing is declared."""
    name = str(values.name)
    if kind == "category":
        codes, names = coded(values)
        if len(names) > CATEGORIES:
            raise JaliError(
                f"Column {name!r} holds {len(names)} different texts, more than {CATEGORIES}: "
                "drop it if it is an identifier, otherwise group its values or make it a number."
            )
        return codes.astype(np.float64), Column(name, "category", categories=names, known="observed")
    x = numbers(values, kind)
    absent = bool(np.isnan(x).any())
    low, high = bounds or (float(np.nanmin(x)), float(np.nanmax(x)))
    known = Column(name, kind, low, high, *scale(x, name), known="bounds" if bounds else "observed", missing=absent)
    return x, known


def numbers(values: Values, kind: Kind) -> Floats:
    """The numbers (N,) of a column, NaN where missing; text that is meant as numbers is read."""
    name = str(values.name)
    if is_text(values) and values.dtype.kind != "b":
        found = read_numbers(values)
        wrong = gaps(found) - gaps(values)
        if wrong:
            raise JaliError(f"Column {name!r} is to be a {kind}, but {wrong} of its texts are no numbers.")
        values = found
    x = values.to_numpy(np.float64, na_value=np.nan)
    if np.isnan(x).all():
        raise JaliError(f"Column {name!r} is empty: drop it.")
    check_exact(values, x)
    return x


def read_numbers(values: Values) -> Values:
    """Values as numbers, missing where one is none.

    >>> import pandas as pd
    >>> read_numbers(pd.Series(["1", "x", 10**400])).tolist()
    [1.0, nan, nan]
    """
    import pandas as pd

    try:
        return pd.to_numeric(values, errors="coerce")
    except OverflowError:  # pandas gives up at a whole number beyond all floats
        return pd.to_numeric(values.where(~values.map(_beyond_floats)), errors="coerce")


def _beyond_floats(value: Any) -> bool:
    try:
        return bool(np.isinf(float(value)))
    except OverflowError:
        return True
    except (TypeError, ValueError):
        return False


def check_exact(values: Values, x: Floats) -> None:
    """Refuse whole numbers that change when they become floats, or that pandas made floats because of gaps."""
    beyond = np.abs(np.nan_to_num(x)) >= EXACT  # 2^53 + 1 becomes 2^53
    whole = values.dtype.kind in "iu" or (np.isnan(x).any() and bool((np.nan_to_num(x) % 1 == 0).all()))
    if beyond.any() and whole:
        raise JaliError(
            f"Column {str(values.name)!r} holds {int(beyond.sum())} whole numbers beyond 2^53, which cannot be "
            f"computed with exactly: drop it, or make it a category (--kind {values.name}=category) or smaller."
        )


def within(values: Values, column: Column) -> Floats:
    """The raw values (N,) of a declared column; the error counts values that are not allowed, without showing them."""
    if column.kind == "category":
        found = codes_of(values, column.categories, f"Column {column.name!r}", "categories")
        return found.astype(np.float64)
    if is_text(values) or values.dtype.kind not in "iuf":
        raise JaliError(f"Column {column.name!r} is declared as {column.kind}, but has type {values.dtype}.")
    x = values.to_numpy(np.float64, na_value=np.nan)
    if np.isnan(x).any() and not column.missing:
        raise JaliError(
            f"Column {column.name!r} is declared, and {int(np.isnan(x).sum())} of its values are missing: fill them "
            "in, or declare missing = true."
        )
    check_exact(values, x)
    check_values(x, column)
    return x


def codes_of(values: Values, names: tuple[str, ...], where: str, what: str) -> Ints:
    """The position of each value (N,) among declared names."""
    place = {name: at for at, name in enumerate(names)}
    plain = texts(values) if is_text(values) else values
    codes = plain.map(lambda value: place.get(label(value), -1)).to_numpy(np.int64)
    unknown = int((codes < 0).sum())
    if unknown:
        raise JaliError(f"{where}: {unknown} rows have none of the {len(names)} declared {what}.")
    return codes


def coded(values: Values) -> tuple[Ints, tuple[str, ...]]:
    """The position of each value (N,) among the distinct values, and their names: numbers by size, others as text."""
    import pandas as pd

    if isinstance(values.dtype, pd.CategoricalDtype) and (found := _coded_categories(values)) is not None:
        return found
    plain = texts(values) if is_text(values) or gaps(values) else values
    if plain.dtype == np.float16:  # pandas has no index of these
        plain = plain.astype(np.float64)
    distinct = sorted(plain.unique().tolist())
    codes = pd.Index(distinct, dtype=plain.dtype).get_indexer(plain)
    return codes.astype(np.int64), tuple(label(v) for v in distinct)


def whose(table: pd.DataFrame, name: str) -> tuple[Ints, tuple[str, ...]]:
    """Whose row each one is: numbers (N,) of people, and their names; a row of nobody is refused.

    >>> import pandas as pd
    >>> whose(pd.DataFrame({"who": ["b", "a", "b"]}), "who")
    (array([1, 0, 1]), ('a', 'b'))
    """
    if absent := gaps(table[name]):
        raise JaliError(f"groups: column {name!r} does not say whose row it is in {absent} rows: fill or drop these.")
    return coded(table[name])


def _coded_categories(values: Values) -> tuple[Ints, tuple[str, ...]] | None:
    """The same for pandas categories, without writing each value as text; None where two categories are one text."""
    names = [str(c) for c in values.cat.categories]
    codes = values.cat.codes.to_numpy()
    used = np.unique(codes)
    names.append(_free(set(names)))  # code -1 is the last one
    if len(set(names)) < len(names):
        return None
    order = sorted(used.tolist(), key=lambda code: names[code])
    place = np.zeros(len(names), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place[codes], tuple(names[code] for code in order)


def days(values: Values) -> Values | None:
    """Dates as days since 1970-01-01, missing where they are; None where the column holds no dates.

    Dates are values of a date type, and texts that are all written as yyyy-mm-dd.

    >>> import pandas as pd
    >>> days(pd.Series(["1970-01-03", "1970-02-01"])).tolist()
    [2, 31]
    """
    import pandas as pd

    if isinstance(values.dtype, pd.CategoricalDtype):
        found = days(pd.Series(values.cat.categories, dtype=object)) if len(values.cat.categories) else None
        if found is None:
            return None
        codes = values.cat.codes.to_numpy()
        taken = pd.Series(found.to_numpy()[codes], name=values.name)
        return taken.where(codes >= 0) if (codes < 0).any() else taken
    if values.dtype.kind != "M":
        if not is_text(values) or not _dated(values):
            return None
        values = pd.to_datetime(values, format="%Y-%m-%d", errors="coerce")
    elif getattr(values.dtype, "tz", None) is not None:
        values = values.dt.tz_convert("UTC").dt.tz_localize(None)
    found = (values - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    whole = not found.isna().any() and bool((found % 1 == 0).all())
    return found.astype(np.int64) if whole else found


def _dated(values: Values) -> bool:
    """Whether all texts of a column, and at least one, are dates yyyy-mm-dd."""
    import pandas as pd

    present = values[values.notna()]
    if not len(present) or not isinstance(present.iloc[0], str):
        return False
    plain = pd.Series(present.unique()).astype(str)
    if not plain.str.fullmatch(DATE).all():
        return False
    return bool(pd.to_datetime(plain, format="%Y-%m-%d", errors="coerce").notna().all())


def is_identifier(values: Values) -> bool:
    """Whether each row has a value of its own: of a text, or of a whole number that counts rows or is called an id."""
    if len(values) < FEW or gaps(values) or not values.is_unique:
        return False
    if is_text(values):
        return True
    if values.dtype.kind not in "iu":
        return False
    name = str(values.name)
    counts = bool((np.diff(values.to_numpy(np.float64)) == 1).all())
    return counts or IDENTIFIER.search(name) is not None or CAMEL.search(name) is not None


def scale(x: Floats, name: str) -> tuple[float, float]:
    """Centre and spread of a column (N,)."""
    there = x[~np.isnan(x)] if np.isnan(x).any() else x
    with np.errstate(over="ignore", invalid="ignore"):
        centre, spread = float(there.mean()), float(there.std())
    if not np.isfinite([centre, spread]).all():
        raise JaliError(f"Column {name!r} has numbers that are too large to scale: use another unit.")
    return centre, spread if spread > 0 and there.min() < there.max() else 1.0
