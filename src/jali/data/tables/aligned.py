"""Several tables of the same people or columns, brought onto one schema so that their rows can be compared."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from jali.core.errors import JaliError
from jali.core.fields import EXACT
from jali.core.values import Column, Floats, Ints, Schema
from jali.data.tables import columns, frames

if TYPE_CHECKING:
    import pandas as pd

    Values = pd.Series[Any]

TEXTS = 200  # different texts from which on a column that is different in most rows is taken for an identifier
WHOLE = 1e-6  # a number this close to a whole one is whole
GRAIN = 1e-5  # numbers that differ by less than this share of their column's range are equal
ENOUGH = 5  # values from which on it is no chance that two tables of the same kind of people have none in common
TRUTHS = {
    **dict.fromkeys(("true", "t", "yes", "y", "1", "1.0"), "True"),
    **dict.fromkeys(("false", "f", "no", "n", "0", "0.0"), "False"),
}


@dataclass(frozen=True, eq=False)
class Aligned:
    """Tables on one schema. rows: by table, the raw rows (n, D) that are complete; at: their positions in the table.

    notes: what was left out, in sentences.
    """

    schema: Schema
    rows: Mapping[str, Floats]
    at: Mapping[str, Ints]
    notes: tuple[str, ...]

    def codes(self, name: str) -> Ints:
        """The rows (n, D) of a table as whole numbers, equal where two values are equal up to rounding."""
        return grained(self.rows[name], self.schema)


def grained(X: Floats, schema: Schema) -> Ints:
    """Raw rows (n, D) as whole numbers: codes and whole numbers as they are, others in steps of 1e-5 of their range.

    >>> grained(np.array([[1.0, 0.25], [1.0000001, 0.2500001]]), Schema((Column("a", "integer"), Column("b", low=0, high=1))))
    array([[    1, 25000],
           [    1, 25000]])
    """  # noqa: E501
    out = np.empty(X.shape, dtype=np.int64)
    for j, column in enumerate(schema.columns):
        span = column.high - column.low
        step = GRAIN * span if column.kind == "number" and 0 < span < np.inf else 1.0
        low = column.low if column.kind == "number" and np.isfinite(column.low) else 0.0
        out[:, j] = np.rint((X[:, j] - low) / step)
    return out


def aligned(tables: Mapping[str, pd.DataFrame], leave_out: Collection[str] = (), alike: bool = False) -> Aligned:
    """The columns that all tables have, on one schema; the first table gives their order.

    Texts become codes. Rows without a number in some column cannot be compared and are left out, with a note; a missing
    text is a category of its own. An identifier, a text that is different in most rows, is left out with a note. alike:
    all are tables of such people, so that a column without a value in common must be written in another way in one of
    them; it is left out with a note, because it would hide what the other columns show.
    """
    shared, notes = _shared(tables, leave_out)
    kept: list[Column] = []
    coded: list[dict[str, Floats]] = []
    for name in shared:
        column, values, note = _column(name, {of: table[name] for of, table in tables.items()})
        if alike and not note:
            note = _apart(column, values)
        if note:
            notes.append(note)
        else:
            kept.append(column)
            coded.append(values)
    if not kept:
        raise JaliError("No column is left in which the tables could be compared: give tables with the same columns.")
    rows: dict[str, Floats] = {}
    at: dict[str, Ints] = {}
    for of, table in tables.items():
        X = np.stack([values[of] for values in coded], axis=1)
        whole = np.isfinite(X).all(axis=1)
        if not whole.any():
            raise JaliError(f"The {of} table has no complete row in the columns compared: fill or drop missing values.")
        if not whole.all():
            notes.append(
                f"{int((~whole).sum()):,} of {len(table):,} rows of the {of} table have gaps and are left out."
            )
        rows[of] = X[whole]
        at[of] = np.flatnonzero(whole)
    return Aligned(Schema(tuple(kept)), rows, at, tuple(notes))


def _shared(tables: Mapping[str, pd.DataFrame], leave_out: Collection[str]) -> tuple[list[str], list[str]]:
    """The columns that all tables have, and a note on the others."""
    first, *others = tables.values()
    everywhere = [c for c in first.columns if all(c in t.columns for t in others) and c not in leave_out]
    if not everywhere:
        kinds = " and ".join(f"the {name} table" for name in tables)
        raise JaliError(
            f"{kinds[:1].upper()}{kinds[1:]} have no column in common; "
            f"{frames.near(str(first.columns[0]), [str(c) for c in others[0].columns])}"
        )
    rest = sorted({str(c) for t in tables.values() for c in t.columns} - {str(c) for c in everywhere} - set(leave_out))
    named = ", ".join(rest[:5]) + (" and more" if len(rest) > 5 else "")
    return everywhere, [f"Columns that not all tables have are not compared: {named}."] if rest else []


def _column(name: str, given: Mapping[str, Values]) -> tuple[Column, dict[str, Floats], str]:
    """One column of all tables: its entry in the schema, its values by table, and a note where it is left out."""
    numbers = {of: _numbers(values) for of, values in given.items()}
    if all(x is not None for x in numbers.values()):
        found = {of: x for of, x in numbers.items() if x is not None}
        every = np.concatenate(list(found.values()))
        known = every[np.isfinite(every)]
        if not len(known):
            return Column(name), {}, f"Column {name!r} holds no value and is not compared."
        whole = bool(np.all((np.abs(known - np.rint(known)) < WHOLE) & (np.abs(known) < EXACT)))
        kind: Any = "integer" if whole else "number"
        column = Column(name, kind, float(known.min()), float(known.max()), *columns.scale(known, name))
        return column, found, ""
    texts = _same_truths({of: _texts(values) for of, values in given.items()})
    every_text = np.concatenate(list(texts.values()))
    distinct, codes = np.unique(every_text, return_inverse=True)
    if len(distinct) > TEXTS and len(distinct) > len(every_text) / 2:
        return Column(name), {}, f"Column {name!r} is different in most rows, so it is an identifier and not compared."
    ends = np.cumsum([len(t) for t in texts.values()])[:-1]
    split = np.split(codes.astype(np.float64), ends)
    column = Column(name, "category", categories=tuple(distinct.tolist()))
    return column, dict(zip(texts, split, strict=True)), ""


def _apart(column: Column, values: Mapping[str, Floats]) -> str:
    """A note on a column without a common value, or without a common range, in two of the tables."""
    gap = column.categories.index("") if "" in column.categories else -1
    known = {of: x[np.isfinite(x) & (x != gap)] if column.categories else x[np.isfinite(x)] for of, x in values.items()}
    for one, other in itertools.combinations(known, 2):
        x, y = known[one], known[other]
        if min(len(x), len(y)) < ENOUGH:
            continue
        if not np.isin(x, y).any() if column.categories else x.max() < y.min() or y.max() < x.min():
            return (
                f"Column {column.name!r} of the {one} table and that of the {other} table have no value in common, so "
                "it is probably written in another way in one of them and not compared: write it in the same way."
            )
    return ""


def _same_truths(texts: dict[str, Any]) -> dict[str, Any]:
    """Truth values in one spelling, where a column of all tables holds nothing else: 1, yes and True are the same."""
    for column in texts.values():
        found = {str(text).lower() for text in np.unique(column)} - {""}
        if len({TRUTHS.get(text, "") for text in found} - {""}) < len(found):  # others, or two spellings in one table
            return texts
    return {of: np.array([TRUTHS.get(text.lower(), "") for text in column.tolist()]) for of, column in texts.items()}


def _numbers(values: Values) -> Floats | None:
    """A column as numbers, gaps as NaN; None where it holds texts, dates, truth values or whole numbers beyond 2^53."""
    if values.dtype.kind in "iuf":
        x = values.to_numpy(np.float64, na_value=np.nan)
        if values.dtype.kind in "iu" and (np.abs(x) >= EXACT).any():
            return None  # as numbers they would change, and different ones become equal
        columns.check_exact(values, x)
        return np.where(np.isfinite(x), x, np.nan)
    if values.dtype.kind == "b" or not frames.is_text(values):
        return None
    read = columns.read_numbers(values)
    if read.dtype.kind not in "iuf" or bool((read.isna() & values.notna()).any()) or bool(read.isna().all()):
        return None
    return np.asarray(read.to_numpy(np.float64, na_value=np.nan), dtype=np.float64)


def _texts(values: Values) -> Any:
    """A column as texts, whole numbers without a decimal point and gaps as an empty text."""
    names = {value: frames.label(value).strip() for value in values.dropna().unique()}
    return values.map(names.get).astype(object).where(values.notna(), "").astype(str).to_numpy(dtype=str)
