"""Designed pairs for releases that accept any table: ties, small classes, bulks of many kinds, duplicates, removals.

All columns of a numeric table hold the same values, so that it does not matter which of them a release reads.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from jali.core.values import Column, Dataset, Floats, Ints, Schema
from jali.data.tables import standardised
from jali.verify.neighbours import AT, FAR, INSTEAD, SIZES, Pair, TrainingSet, queried, replaced

SIDE = 20  # rows on each side of a near tie
GAPS = (-8, -4, -1, 0, 1, 2, 3)  # by how many rows the side that the record joins is larger beforehand
WIDTHS = (1, 3, 20)  # numbers of columns
SMALL = (1, 2, 3, 4, 5, 6)  # people in a small class, one of whom is the record
PERCENTILES = (1, 5, 10, 25, 75, 90, 95, 99)  # beside the median, which the near ties move
# People in a larger group, before one leaves it, and in the table: rules such as "at least 10" turn at these numbers.
CROWDS = {7: 50, 8: 26, 9: 31, 10: 20, 11: 21, 12: 100, 15: 30, 16: 51, 20: 40, 21: 41, 25: 101, 26: 150, 30: 60}
CROWDS |= {31: 75, 40: 250, 50: 200, 51: 201, 75: 300, 100: 500, 101: 501}
REGIONS = ("north", "east", "south", "west", "centre", "coast")
TRADES = ("farming", "building", "selling", "teaching", "nursing", "driving")


def designed(seed: int, add_remove: bool = False) -> list[Pair]:
    """All designed pairs; with add_remove also those in which the record is missing from the second data set."""
    found = [
        *_near_ties(),
        *_small_classes(),
        *_crowds(),
        *_percentiles(),
        *_four_classes(),
        *_tied_columns(),
        *_bulks(seed),
        *_duplicates(),
        *_tiny(),
        *_small_regions(seed),
        *_tied_regions(),
        *_rare_combination(seed),
    ]
    return [*found, *_removals(seed, found)] if add_remove else found


# --- numeric tables ------------------------------------------------------------------------------------------------


def _near_ties() -> list[Pair]:
    """All rows near one end of the range or the other, labelled by it; the record goes from one end to the other.

    Before, the side that it joins is larger by a gap: -1, where the median and the majority change sides, up to 3,
    where a choice with too little noise betrays most, and below it, where many counts stay just under a threshold. In
    the mixed tables every other column has the opposite sign, so that some counts rise and others fall.
    """
    found: list[Pair] = []
    for gap in GAPS:
        labels = np.repeat([0, 1], [SIDE, SIDE + gap])
        for width in WIDTHS if gap in (-1, 1) else (3, 20):
            first = _copies(_two_ends(labels), labels, width)
            name = f"a near tie, {SIDE} against {SIDE + gap}"
            found += _both(name, first, replaced(first, 0, np.full(width, FAR), 1), 0, "near tie")
        sign = np.where(np.arange(20) % 2, -1.0, 1.0)
        mixed = dataclasses.replace(first, X=first.X * sign)
        found += _both(
            f"a mixed tie, {SIDE} against {SIDE + gap}", mixed, replaced(mixed, 0, FAR * sign, 1), 0, "mixed"
        )
    return found


def _small_classes() -> list[Pair]:
    """A class of at most six people, one of whom moves within it, or leaves it."""
    found: list[Pair] = []
    for size in SMALL:
        values = np.append(np.linspace(-2, 2, 40), 4 + 0.01 * np.arange(size))
        labels = np.repeat([0, 1], [40, size])
        first = _copies(values, labels, 3)
        who = len(first) - 1
        moved = replaced(first, who, np.full(3, -FAR))
        leaves = replaced(first, who, first.X[who], 0)
        changes = {"moves": moved, "leaves": leaves}
        for what, second in changes.items():
            name = f"one of a class of {size} {what}"
            found += _both(name, first, second, who, f"small class, {what}")
    return found


def _crowds() -> list[Pair]:
    """A class of people who are all alike, one of whom leaves it: answers about 10, 50 or 100 people may follow a rule.

    The two groups are as far apart as the range allows, and everybody in one has the same values.
    """
    found: list[Pair] = []
    for size, rows in CROWDS.items():
        labels = np.repeat([1, 0], [size, rows - size])
        first = _copies(np.where(labels == 1, FAR / 2, -FAR / 2), labels, 3)
        second = replaced(first, 0, first.X[-1], 0)
        found += queried(f"one of {size} who are alike leaves", _set(first), _set(second), {AT: first.X[0]})
    return [dataclasses.replace(pair, family="crowd") for pair in found]


def _percentiles() -> list[Pair]:
    """Rows of 101 that are near 0 or near the upper end, and a record whose rise takes a percentile with it.

    Rules that read a range or a limit from the rows mostly read it at such a percentile.
    """
    found: list[Pair] = []
    for percent in PERCENTILES:
        labels = np.repeat([0, 1], [percent + 1, 100 - percent])
        values = np.where(labels == 1, FAR, 0.0) - 0.5 * np.linspace(0, 1, 101)
        first = _copies(values, labels, 3)
        rises = replaced(first, 0, np.full(3, FAR), 1)
        found += queried(f"percentile {percent} rises", _set(first), _set(rises), {AT: first.X[0]})
    return [dataclasses.replace(pair, family="percentile") for pair in found]


def _four_classes() -> list[Pair]:
    """Four classes of nearly equal size at four places; the record moves between the outer or between the inner two."""
    labels = np.repeat([0, 1, 2, 3], [11, 11, 11, 12])
    first = _copies(FAR * (labels / 1.5 - 1), labels, 3, 4)
    outer = replaced(first, 0, np.full(3, FAR), 3)
    inner = replaced(first, 11, first.X[22], 2)
    return [
        *_both("from one class of four to another", first, outer, 0, "near tie"),
        *_both("from the second class of four to the third", first, inner, 11, "inner class"),
    ]


def _tied_columns() -> list[Pair]:
    """Three columns of which the first two agree with the label, and each other, nearly as often; the record decides.

    Its values in the two are swapped, and with them which column has the larger sum, and the stronger association
    with the label.
    """
    labels = np.arange(41) % 2
    side = np.where(labels == 1, FAR, -FAR)
    X = np.column_stack([side, side, np.where(np.arange(41) % 3, -1.0, 1.0)])
    X[1:11, 0] = -side[1:11]
    X[11:21, 1] = -side[11:21]
    X[40] = (FAR, -FAR, 1.0)
    labels[40] = 1
    first = standardised.dataset(X, labels, 2)
    return _both("two columns alike, values swapped", first, replaced(first, 40, X[40][[1, 0, 2]]), 40, "tied columns")


def _bulks(seed: int) -> list[Pair]:
    """Rows all alike, with heavy tails, or evenly spread, of which one goes to an end of the range."""
    rng = np.random.default_rng([seed, 5])
    heavy = np.clip(rng.standard_t(1.5, 101), -FAR, FAR)
    bulks = {"all rows alike": np.zeros(47), "heavy tails": np.sort(heavy), "evenly spread": np.linspace(-1, 1, 61)}
    found: list[Pair] = []
    for name, values in bulks.items():
        first = _copies(values, (np.arange(len(values)) % 2), 3)
        who = len(values) // 2
        found += _both(f"{name}, one at the end", first, replaced(first, who, np.full(3, FAR)), who, "bulk")
    first = _copies(np.full(47, FAR), np.arange(47) % 2, 3)
    found += _both("all rows at the end, one not", first, replaced(first, 46, np.zeros(3)), 46, "bulk")
    return found


def _duplicates() -> list[Pair]:
    """The record has duplicates, and becomes unlike any other row; or it becomes a duplicate of another."""
    found: list[Pair] = []
    for size in (2, 3, 5):
        values = np.append(np.full(size, 1.03), np.linspace(-4, 4, 41))
        labels = (values > 0).astype(np.int64)
        first = _copies(values, labels, 3)
        found += _both(f"one of {size} duplicates moves", first, replaced(first, 0, np.full(3, 6.5)), 0, "duplicates")
    return found


def _tiny() -> list[Pair]:
    """Tables of five rows and of two, of which the first moves from one end to the other."""
    found: list[Pair] = []
    for values in ((-FAR, -1.0, 0.0, 1.0, 2.0), (-FAR, FAR)):
        first = _copies(np.array(values), (np.array(values) > 0).astype(np.int64), 3)
        found += _both(f"{len(values)} rows", first, replaced(first, 0, np.full(3, FAR), 1), 0, "tiny")
    return found


def _two_ends(labels: Ints) -> Floats:
    """Values near the lower end for label 0 and near the upper end for label 1, all different; the first is the end."""
    inward = np.linspace(0, 1, len(labels))
    return np.where(labels == 1, FAR - inward * 0.9, -FAR + inward)


# --- tables with a category ----------------------------------------------------------------------------------------


def _small_regions(seed: int) -> list[Pair]:
    """A region of at most six people, one of whom moves away, or gets another income."""
    found: list[Pair] = []
    for size in SMALL:
        first = _people(seed, size)
        who = len(first) - 1
        row = first.X[who]
        away = replaced(first, who, np.array([row[0], row[1], 0.0]))
        richer = replaced(first, who, np.array([row[0], FAR, row[2]]))
        found += _both(f"one of a region of {size} moves away", first, away, who, "small region")
        found += queried(f"one of a region of {size} earns more", _set(first), _set(richer), {AT: row})
    return found


def _tied_regions() -> list[Pair]:
    """Two regions of nearly equal size, and somebody who moves from the smaller to the larger, or to the tie."""
    found: list[Pair] = []
    for gap in (-1, 1, 2):
        region = np.repeat([0.0, 1.0], [SIDE, SIDE + gap])
        labels = region.astype(np.int64)
        side = FAR * (2 * region - 1)
        first = Dataset(np.column_stack([np.round(side / 2), side, region]), labels, _schema())
        second = replaced(first, 0, first.X[-1], 1)
        found += _both(f"two regions, {SIDE} against {SIDE + gap}", first, second, 0, "tied regions")
    return found


def _rare_combination(seed: int) -> list[Pair]:
    """Two categories, each value of which many people have, and a combination of them that only the record has."""
    rng = np.random.default_rng([seed, 8])
    n = 72
    region = np.arange(n) % 6
    trade = (region + 1 + np.arange(n) // 6 % 5) % 6  # each region has every trade but one, which has its number
    income = rng.uniform(-3, 3, n).round(2)
    trade[0] = region[0]
    columns = (
        Column("region", "category", categories=REGIONS),
        Column("income", "number", -FAR, FAR),
        Column("trade", "category", categories=TRADES),
    )
    X = np.column_stack([region, income, trade]).astype(np.float64)
    first = Dataset(X, (income > 0).astype(np.int64), Schema(columns, ("refused", "granted"), favourable=1))
    second = replaced(first, 0, np.array([X[0, 0], X[0, 1], X[6, 2]]))
    return _both("the one of a combination of two categories leaves it", first, second, 0, "rare combination")


def _people(seed: int, size: int) -> Dataset:
    """Sixty people in five regions, and a sixth region with few."""
    rng = np.random.default_rng([seed, 6])
    n = 60 + size
    age = rng.integers(-3, 4, n).astype(np.float64)
    income = rng.uniform(-3, 3, n).round(2)
    region = np.append(np.arange(60) % 5, np.full(size, 5)).astype(np.float64)
    return Dataset(np.column_stack([age, income, region]), (income > 0).astype(np.int64), _schema())


def _schema() -> Schema:
    columns = (
        Column("age", "integer", -FAR, FAR),
        Column("income", "number", -FAR, FAR),
        Column("region", "category", categories=REGIONS),
    )
    return Schema(columns, ("refused", "granted"), favourable=1)


# --- records that are missing --------------------------------------------------------------------------------------


def _removals(seed: int, found: Sequence[Pair]) -> list[Pair]:
    """The first data sets of some pairs, each with its record removed: at the end, at the start, of a small class."""
    rng = np.random.default_rng([seed, 7])
    normal = np.append(rng.normal(size=100), FAR)
    table = _copies(normal, (normal > 0).astype(np.int64), 3)
    pairs = [_without("the last of 101 rows removed", table, 100), _without("the first of 101 rows removed", table, 0)]
    done: set[str] = set()
    for pair in found:
        name = pair.name.partition(", query")[0]
        if pair.removed or name in done or pair.family == "bulk":
            continue
        done.add(name)
        pairs.append(_without(f"{name}: removed instead", pair.first.data, pair.changed))
    for size in SIZES[:4]:
        group = _copies(np.append(np.full(size, 1.5), np.linspace(-4, 4, 40)), np.arange(40 + size) % 2, 3)
        pairs.append(_without(f"one of {size} duplicates removed", group, 0))
    return pairs


def _without(name: str, data: Dataset, who: int) -> Pair:
    """A pair whose second data set lacks one record, queried at the record."""
    rest = data.rows(np.arange(len(data)) != who)
    return Pair(f"{name}, query {AT}", _set(data), _set(rest), data.X[[who]].copy(), "removed")


# --- helpers -------------------------------------------------------------------------------------------------------


def _copies(values: Floats, labels: Ints, width: int, classes: int = 2) -> Dataset:
    """A table of equal columns."""
    return standardised.dataset(np.repeat(values[:, None], width, axis=1), labels, classes)


def _both(name: str, first: Dataset, second: Dataset, who: int, family: str) -> list[Pair]:
    """Pairs queried at the record and, if its values change, at its replacement."""
    queries = {AT: first.X[who]}
    if (first.X[who] != second.X[who]).any():
        queries[INSTEAD] = second.X[who]
    made = queried(name, _set(first), _set(second), queries)
    return [dataclasses.replace(pair, family=family) for pair in made]


def _set(data: Dataset) -> TrainingSet:
    return TrainingSet(data)
