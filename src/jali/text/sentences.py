"""Counterfactuals as sentences: what would have to change, with the present values.

Whole numbers are written in full, other numbers with six digits, or with as many as needed to distinguish values that
differ. Thousands are separated from 10,000 on, so that years are written as years. Whole numbers that all look like
dates (yyyymmdd, 1900 to 2099) are written without separators, and no difference is computed. A change of less than a
billionth of a column's range is rounding error and is not reported.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date, timedelta

import numpy as np

from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Regions, categories, legal
from jali.core.values import Bools, Column, Floats, Ints, Schema, frozen
from jali.text.catalogue import ENGLISH, Catalogue

LISTED = 5  # most categories and columns that a sentence names; further ones are counted
ROUNDING = 1e-9
KEPT = ""  # the column need not change: it has the only value allowed
OPEN = "left open"  # the column need not change: it has one of several values allowed


def sentences(
    X: Floats,
    counterfactuals: Counterfactual,
    schema: Schema,
    pure: Floats | None = None,
    sampled: Bools | None = None,
    say: Catalogue = ENGLISH,
) -> list[str]:
    """One sentence for each of the records X (n, D): which columns would have to change, and from what to what.

    A column whose range or list of values contains the record's own value need not change. If the answer allows other
    values as well, the outcome may depend on them, and the column is reported as left open. Where a generalised answer
    covers the record itself, the sentence says that it is too wide. pure (n,): the share of the covered rows that have
    the outcome, NaN where unknown; sampled (n,): whether that share is an estimate. A share of 1 is not mentioned.
    Where no class is favourable, the outcome is called "another one". say: the phrases of a language.

    >>> city = Column("city", "category", categories=("Antwerp", "Lier", "Ghent"))
    >>> schema = Schema((Column("age", "integer"), city), classes=("reject", "accept"), favourable=1)
    >>> allowed = np.array([[[0, 0, 0], [1, 0, 1]]])
    >>> regions = Regions(np.array([[24.0, 0]]), np.array([[27.0, 0]]), allowed, schema)
    >>> lisa = np.array([[21.0, 1.0]])
    >>> wide = Counterfactual(regions.nearest(lisa), np.ones(1), regions)
    >>> sentences(lisa, wide, schema)[0]
    'If age were 3 to 6 higher (24 to 27, not 21) and city Antwerp or Ghent (not Lier), the outcome would be accept.'
    >>> sentences(lisa, wide, schema, np.array([0.94]))[0].split(", ")[-1]
    'the outcome would be accept (in 94 % of the cases this covers).'
    """
    if X.shape != counterfactuals.rows.shape or X.shape[1] != len(schema.columns):
        raise JaliError(
            f"Expected a record of {len(schema.columns)} columns for each answer, not an array of {X.shape}."
        )
    share = frozen(np.full(len(X), np.nan) if pure is None else pure, np.float64, (len(X),), "pure")
    guess = frozen(np.zeros(len(X)) if sampled is None else sampled, bool, (len(X),), "sampled")
    if ((share < 0) | (share > 1)).any():
        raise JaliError("pure must contain shares from 0 to 1, or NaN where a share is unknown.")
    out = [say.withheld] * len(X)
    found = np.flatnonzero(counterfactuals.found)
    legal(X, schema)
    legal(counterfactuals.rows[found], schema)
    shown = counterfactuals.pick(counterfactuals.found).shown(schema)
    _check_not_empty(shown)
    for at, i in enumerate(found):
        changes = [_change(column, X[i, j], shown, at, j, say) for j, column in enumerate(schema.columns)]
        exact = np.array_equal(X[i], shown.low[at])
        out[i] = _sentence(changes, schema, exact, (float(share[i]), bool(guess[i])), say)
    return out


def _check_not_empty(shown: Regions) -> None:
    named = shown.allowed[:, categories(shown.schema)].any(axis=2)
    if not ((shown.low <= shown.high).all() and named.all()):
        raise JaliError(
            "Every answer must cover at least one row, but one of these regions is empty: withhold that answer."
        )


def _change(column: Column, x: float, shown: Regions, i: int, j: int, say: Catalogue) -> str:
    """How column j of a record would have to change, in words, or KEPT, or OPEN."""
    if column.kind == "category":
        return _category(column, int(x), np.flatnonzero(shown.allowed[i, j]), say)
    return _number(column, float(x), float(shown.low[i, j]), float(shown.high[i, j]), say)


def _sentence(changes: Sequence[str], schema: Schema, exact: bool, limits: tuple[float, bool], say: Catalogue) -> str:
    """The whole sentence; limits: the share of cases, and whether it is an estimate."""
    outcome = say.another if schema.favourable is None else schema.classes[schema.favourable]
    names = [_quoted(column.name) for column in schema.columns]
    needed = [(name, change) for name, change in zip(names, changes, strict=True) if change not in (KEPT, OPEN)]
    free = [name for name, change in zip(names, changes, strict=True) if change == OPEN]
    if needed:
        (first, how), *rest = needed
        further = [say.further.format(column=name, change=change) for name, change in rest]
        phrase = say.listed([say.first.format(column=first, change=how), *further], say.conjunction)
        return say.needed.format(changes=phrase, outcome=outcome, limits=_limits(*limits, free, say))
    if free:
        return say.too_wide.format(outcome=outcome)
    return (say.nothing if exact else say.next_to_nothing).format(outcome=outcome)


def _limits(share: float, guess: bool, free: list[str], say: Catalogue) -> str:
    """The limits of a sentence: the share of cases, never rounded to 0 or 100 %, and the columns left open."""
    if share > 1 - ROUNDING and not guess:
        return ""
    notes = []
    if not math.isnan(share):
        percent = round(100 * share) if share in (0, 1) else min(max(round(100 * share), 1), 99)
        notes.append((say.about_share if guess else say.share).format(percent=percent))
    if free:
        many = say.other_columns.format(count=len(free))
        notes.append(say.left_open.format(columns=say.listed(free, say.conjunction) if len(free) <= LISTED else many))
    return f" ({', '.join(notes)})" if notes else ""


def _category(column: Column, x: int, allowed: Ints, say: Catalogue) -> str:
    """What a category would have to be: the allowed values, the excluded ones, or their number if both are many."""
    if x in allowed:
        return OPEN if len(allowed) > 1 else KEPT
    names = [_quoted(name) for name in column.categories]
    others = [name for code, name in enumerate(names) if code not in allowed]
    if len(allowed) <= LISTED:
        return say.instead.format(to=say.listed([names[v] for v in allowed], say.exclusive), now=names[x])
    if len(others) <= LISTED:
        but = say.any_but.format(values=say.listed(others, say.exclusive))
        return but + (say.now.format(now=names[x]) if len(others) > 1 else "")
    return say.one_of.format(count=len(allowed), now=names[x])


def _number(column: Column, x: float, low: float, high: float, say: Catalogue) -> str:
    """How a number x would have to change to lie between low and high, in words, or KEPT, or OPEN."""
    span = column.high - column.low
    noise = ROUNDING * (span if math.isfinite(span) else max(column.spread, abs(x)))
    noise = min(noise, 0.5) if column.kind == "integer" else noise
    high = high if high - low > noise else low
    if max(low - x, x - high) <= noise:
        return OPEN if low < high else KEPT
    if column.date:
        return say.instead.format(to=_dates(low, high, say), now=day(x))
    if column.kind == "integer" and all(map(_dated, (x, low, high))):
        return say.instead.format(to=_ends(f"{low:.0f}", f"{high:.0f}", say), now=f"{x:.0f}")
    places = _places(column, (x, low, high))
    x = round(x, places)
    low = round(low, places)
    high = round(high, places)
    amount = _range(low - x, high - x, places, say) if x < low else _range(x - high, x - low, places, say)
    moved = say.higher if x < low else say.lower
    return moved.format(amount=amount, to=_range(low, high, places, say), now=say.number(_written(x, places)))


def value(column: Column, x: float) -> str:
    """One value as it is written in the sentences.

    >>> value(Column("income"), 21000.5), value(Column("city", "category", categories=("Lier",)), 0.0)
    ('21,000.5', 'Lier')
    """
    if column.kind == "category":
        return column.categories[int(x)]
    if math.isnan(x):
        return "missing"
    if column.date:
        return day(x)
    if x == 0 or (column.kind == "integer" and _dated(x)):
        return f"{x:z.0f}"
    return _written(x, _places(column, (x,)))


def day(days: float) -> str:
    """A date, from days since 1970-01-01; a time of day is left out, and a date that no calendar has is a number.

    >>> day(18993.0), day(1e9)
    ('2022-01-01', '1,000,000,000 days after 1970-01-01')
    """
    try:
        return (date(1970, 1, 1) + timedelta(days=math.floor(days))).isoformat()
    except OverflowError:
        return f"{days:,.0f} days after 1970-01-01"


def _dates(low: float, high: float, say: Catalogue) -> str:
    if math.isinf(high):
        return say.or_later.format(date=day(low))
    if math.isinf(low):
        return say.or_earlier.format(date=day(high))
    return _ends(day(low), day(high), say)


def _dated(value: float) -> bool:
    try:
        return 1900 <= date.fromisoformat(f"{value:.0f}").year < 2100
    except ValueError:
        return False


def _places(column: Column, values: Sequence[float]) -> int:
    """Decimal places for six digits in all, none for whole numbers, and more until different values differ in print."""
    most = max(abs(value) for value in values if math.isfinite(value))
    places = 0 if column.kind == "integer" else max(0, 5 - math.floor(math.log10(most)))
    while len({round(value, places) for value in values}) < len(set(values)):
        places += 1
    return places


def _range(low: float, high: float, places: int, say: Catalogue) -> str:
    if math.isinf(high):
        return say.or_more.format(number=say.number(_written(low, places)))
    if math.isinf(low):
        return say.or_less.format(number=say.number(_written(high, places)))
    return _ends(say.number(_written(low, places)), say.number(_written(high, places)), say)


def _ends(low: str, high: str, say: Catalogue) -> str:
    return low if low == high else say.between.format(low=low, high=high)


def _written(value: float, places: int) -> str:
    text = f"{value:z,.{places}f}" if abs(value) >= 10_000 else f"{value:z.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _quoted(name: str) -> str:
    """A name, in quotes where it could be confused with the words around it."""
    return f'"{name}"' if re.search(r",| or | and | oder | und |^\s*$", name) else name
