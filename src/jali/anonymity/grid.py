"""Cells of the values of each column, so that what is shown of a group ends where no single person does.

A cell of numbers is an interval between two round values, a cell of categories is a set of them. Cells are merged until
at least k training people have a value in each. The ends of intervals are values that nobody has, or at least three
people, or bounds that were declared without looking at the rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np

from jali.core.errors import JaliError
from jali.core.explanation import Regions, categories
from jali.core.values import Bools, Column, Dataset, Floats, Ints, Schema

SHARE = 3  # without a declared width, a cell is about a third of a standard deviation wide: 1, 2 or 5 times 10^m
FEWEST = 3  # people who have a value where an interval may end, unless nobody has it
MOST = 2000  # cells of a column before they are merged
MONTHS = 60  # dates that span more months than this are cut at years


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one column: numbers from low to high (E,), or the cell (V,) of each code of a category."""

    low: Floats
    high: Floats
    cell: Ints

    def __len__(self) -> int:
        return len(self.low) if len(self.low) else int(self.cell.max(initial=-1)) + 1

    def of(self, x: Floats) -> Ints:
        """The cell (n,) of each value; one between or outside all cells is in the nearest below, or in the first."""
        if len(self.low):
            return (np.searchsorted(self.low, x, "right") - 1).clip(min=0)
        return self.cell[x.astype(np.int64)]

    def outwards(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """The ends (n,) of the cells that intervals from low to high (n,) end in.

        >>> Cells(np.array([0.0, 20, 40]), np.array([19.0, 39, 59]), np.zeros(0, int)).outwards([25.0], [38.0])
        (array([20.]), array([39.]))
        """
        return self.low[self.of(np.asarray(low))], self.high[self.of(np.asarray(high))]


@dataclass(frozen=True, eq=False)
class Grid:
    """The cells of every column."""

    columns: tuple[Cells, ...]

    @classmethod
    def of(cls, train: Dataset, k: int, steps: Mapping[str, float] | None = None) -> Grid:
        """The cells of a training set; steps: the width of a cell by column, where one is declared."""
        named = dict(steps or {})
        known = [c.name for c in train.schema.columns if c.kind != "category"]
        if unknown := [name for name in named if name not in known]:
            raise JaliError(f"grid: {unknown[0]!r} is not a column of numbers; these are {', '.join(known) or 'none'}.")
        if wrong := [name for name, step in named.items() if not 0 < step < math.inf]:
            raise JaliError(f"grid: the step of {wrong[0]!r} must be positive and finite, not {named[wrong[0]]}.")
        person = train.group_numbers()
        columns = zip(train.schema.columns, train.X.T, strict=True)
        return cls(tuple(_cells(column, x, person, k, named.get(column.name, 0.0)) for column, x in columns))

    def codes(self, X: Floats) -> Ints:
        """The cell (n, D) of each value of raw rows (n, D)."""
        return np.stack([cells.of(x) for cells, x in zip(self.columns, X.T, strict=True)], axis=1)

    def outwards(self, regions: Regions, fixed: Ints) -> Regions:
        """The regions, widened to whole cells in all columns but the fixed ones."""
        low = regions.low.copy()
        high = regions.high.copy()
        allowed = regions.allowed.copy()
        named = categories(regions.schema)
        for j, cells in enumerate(self.columns):
            if j in fixed:
                continue
            if j in named:
                allowed[:, j] = self.whole(allowed[:, j], j)
            else:
                low[:, j], high[:, j] = cells.outwards(low[:, j], high[:, j])
        return Regions(low, high, allowed, regions.schema)

    def whole(self, allowed: Bools, j: int) -> Bools:
        """The codes (n, V) allowed in category j, and all that share a cell with one of them."""
        cell = self.columns[j].cell
        among = cell[:, None] == cell
        out = np.zeros_like(allowed)
        out[:, : len(cell)] = (allowed[:, : len(cell)].astype(np.int64) @ among) > 0
        return out


def people_with(x: Floats, person: Ints) -> tuple[Floats, Ints]:
    """The values that occur in a column (N,), and how many people have each; person (N,): whose row it is."""
    pairs = np.unique(np.stack([x, person.astype(np.float64)], axis=1), axis=0)
    value, count = np.unique(pairs[:, 0], return_counts=True)
    return value, count


def _cells(column: Column, x: Floats, person: Ints, k: int, step: float) -> Cells:
    value, count = people_with(x, person)
    if column.kind == "category":
        return Cells(np.zeros(0), np.zeros(0), _merged_codes(len(column.categories), value, count, k))
    lone = value[count < min(k, FEWEST)]
    width = step or nice((float(x.std()) or column.spread) / SHARE)
    starts, ends = _around(*_candidates(column, value, width, not step), value, lone)
    first = np.unique(person, return_index=True)[1]  # a person with several rows is counted at the first
    place = np.searchsorted(starts, x[first], "right") - 1
    held = np.bincount(place, minlength=len(starts))
    parts = _merged(held, ~np.isin(starts[1:], lone) & ~np.isin(ends[:-1], lone), k)
    there = np.bincount(np.searchsorted(starts, value, "right") - 1, minlength=len(starts)) > 0
    low = np.array([_outer(starts[part], there[part], lone) for part in parts])
    high = np.array([_outer(ends[part][::-1], there[part][::-1], lone) for part in parts])
    if column.known != "observed":
        low[0] = max(low[0], column.low)
        high[-1] = min(high[-1], column.high)
    return Cells(low, high, np.zeros(0, dtype=np.int64))


def _merged(held: Ints, usable: Bools, k: int) -> list[slice]:
    """Neighbouring candidates (E,) joined until each part has k people; usable (E - 1,): where a part may end."""
    upto = np.cumsum(held)
    cuts = [0]
    for cut in (1 + np.flatnonzero(usable)).tolist():
        before = upto[cuts[-1] - 1] if cuts[-1] else 0
        if upto[cut - 1] - before >= k and upto[-1] - upto[cut - 1] >= k:
            cuts.append(cut)
    return [slice(a, b) for a, b in zip(cuts, [*cuts[1:], len(held)], strict=True)]


def _outer(ends: Floats, there: Bools, lone: Floats) -> float:
    """Of the ends of candidates, outermost first, the innermost that leaves out nobody and is no lone value."""
    able = np.flatnonzero(~np.isin(ends, lone)[: int(there.argmax()) + 1])
    return float(ends[able[-1]])


def _around(starts: Floats, ends: Floats, value: Floats, lone: Floats) -> tuple[Floats, Floats]:
    """The candidates that are needed to cover all values: the outermost ends are not the value of a single person."""
    first = np.flatnonzero((starts <= value[0]) & ~np.isin(starts, lone))[-1]
    last = np.flatnonzero((ends >= value[-1]) & ~np.isin(ends, lone))[0]
    return starts[first : last + 1], ends[first : last + 1]


def _merged_codes(codes: int, value: Floats, count: Ints, k: int) -> Ints:
    """The cell (V,) of each code: its own where k people have it; all others share one, which has k people as well."""
    held = np.zeros(codes, dtype=np.int64)
    held[value.astype(np.int64)] = count
    rare = held < k
    if rare.any() and held[rare].sum() < k and not rare.all():
        rare[np.where(rare, np.iinfo(np.int64).max, held).argmin()] = True
    out = np.cumsum(~rare) - 1
    return np.where(rare, int((~rare).sum()), out)


def _candidates(column: Column, value: Floats, width: float, free: bool) -> tuple[Floats, Floats]:
    """First and last values (E,) of the cells before they are merged; they cover all values, with room beyond them.

    free: no width was declared, so that dates may be cut at months.
    """
    if column.kind == "integer" and free and all(map(as_date, (value[0], value[-1]))):
        return _months(as_date(value[0]), as_date(value[-1]))
    if column.kind == "integer":
        width = max(1.0, round(width))
    width *= max(1, math.ceil((value[-1] - value[0]) / width / MOST))
    first = math.floor(value[0] / width) - 1
    last = math.floor(value[-1] / width) + 2
    edges = np.arange(first, last + 1) * width
    return edges[:-1], edges[1:] - (1.0 if column.kind == "integer" else 0.0)


def _months(first: date | None, last: date | None) -> tuple[Floats, Floats]:
    """Months, or years where there are many, around two dates, as numbers yyyymmdd."""
    if first is None or last is None:
        raise JaliError("Dates are written yyyymmdd, as whole numbers.")
    many = (last.year - first.year) * 12 + last.month - first.month > MONTHS
    at = date(first.year - 1, 1 if many else first.month, 1)
    starts = []
    while at <= last.replace(year=last.year + 1):
        starts.append(at)
        at = date(at.year + 1, 1, 1) if many else (at + timedelta(days=31)).replace(day=1)
    ends = [after - timedelta(days=1) for after in starts[1:]]
    return _numbers(starts[:-1]), _numbers(ends)


def _numbers(dates: list[date]) -> Floats:
    return np.array([10000 * d.year + 100 * d.month + d.day for d in dates], dtype=np.float64)


def as_date(value: float) -> date | None:
    """The date that a number yyyymmdd of 1900 to 2099 stands for, or None.

    >>> as_date(20240229.0), as_date(20230229.0)
    (datetime.date(2024, 2, 29), None)
    """
    try:
        found = date.fromisoformat(f"{value:.0f}")
    except ValueError:
        return None
    return found if 1900 <= found.year < 2100 else None


def nice(width: float) -> float:
    """The number 1, 2 or 5 times a power of ten that is nearest to a positive width, by ratio.

    >>> nice(4.1), nice(2461.0), nice(0.03)
    (5.0, 2000.0, 0.02)
    """
    power = math.floor(math.log10(width))
    choices = [float(f"{m}e{p}") for p in (power, power + 1) for m in (1, 2, 5)]
    return min(choices, key=lambda c: abs(math.log(c / width)))


def single_values(schema: Schema, X: Floats, person: Ints) -> list[Floats]:
    """Of each column the values that exactly one person has, for an independent check of what was shown."""
    out = []
    for _, x in zip(schema.columns, X.T, strict=True):
        value, count = people_with(x, person)
        out.append(value[count == 1])
    return out
