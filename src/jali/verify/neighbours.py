"""Neighbouring data sets: two training sets that differ in one record, and a query that is put to both."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.guarantee import Private
from jali.core.protocols import Model, Trainer
from jali.core.values import Bools, Column, Dataset, Floats, Ints, Schema
from jali.data.linear_gaussian import LinearGaussian
from jali.data.sample import Sample
from jali.data.tables import standardised


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Training data, and a model without noise that was fitted once on all of its rows.

    model: None if its decisions are not needed, as for a claim that also covers the decision.
    """

    data: Dataset
    model: Model | None = None

    def fitted(self) -> Model:
        """The model; a training set without one is refused."""
        if self.model is None:
            raise JaliError("This training set has no fitted model: make it with fitted(trainer, data).")
        return self.model

    def decisions(self, rows: Floats) -> Ints:
        """The class (n,) that the model decides for raw rows (n, D)."""
        return np.asarray(self.fitted().logits(rows).argmax(axis=1))


def fitted(trainer: Trainer, data: Dataset) -> TrainingSet:
    """A training set with a model fitted on all of its rows; a private trainer is refused.

    A private trainer must draw new noise for every release, but a stored model would repeat the same noise.
    """
    if isinstance(trainer, Private):
        raise JaliError(
            f"{type(trainer).__name__} is private, so its model must be drawn anew for every release: "
            "pass the same trainer without noise."
        )
    return TrainingSet(data, trainer.fit(data, np.ones((len(data), 1), dtype=bool), [np.random.default_rng(0)])[0])


@dataclass(frozen=True, eq=False)
class Pair:
    """Two training sets that differ in one record, and the query (1, D) that is put to both.

    family: pairs of one family test the same weakness; of each, the best is looked at closely.
    """

    name: str
    first: TrainingSet
    second: TrainingSet
    query: Floats
    family: str = "influence"

    def __str__(self) -> str:
        rows, columns = self.first.data.X.shape
        return f"{self.name} ({rows} rows of {columns} column{'s' if columns > 1 else ''})"

    @property
    def changed(self) -> int:
        """The row that holds the record in the first data set and its replacement in the second."""
        first = self.first.data
        second = self.second.data
        n = min(len(first), len(second))
        differs = differing(first.X[:n], second.X[:n]).any(axis=1) | (first.y[:n] != second.y[:n])
        return int(np.flatnonzero(np.append(differs, len(first) != len(second)))[0])

    @property
    def removed(self) -> bool:
        """Whether the second data set lacks the record, instead of holding another one in its place."""
        return len(self.first.data) != len(self.second.data)

    def only(self) -> tuple[Floats, Floats]:
        """The values that occur in the first data set alone, and those that occur in the second alone."""
        here = np.unique(self.first.data.X)
        there = np.unique(self.second.data.X)
        return np.setdiff1d(here, there), np.setdiff1d(there, here)

    @property
    def decided_alike(self) -> bool:
        """Whether the models of both data sets make the same decision about the query."""
        return bool((self.first.decisions(self.query) == self.second.decisions(self.query)).all())

    def queries(self, covers_decision: bool, most: int = 30) -> Floats:
        """The query, then rows (n, D) of the data; only those decided alike, unless the claim covers the decision."""
        rows = np.vstack([self.query, np.unique(self.first.data.X, axis=0)])
        if not covers_decision:
            rows = rows[self.first.decisions(rows) == self.second.decisions(rows)]
        return np.asarray(rows[:most])


def extent(pairs: Sequence[Pair]) -> str:
    """What tables the pairs are made of, in words: a leak that only larger tables show is not seen in them."""
    tables = [pair.first.data for pair in pairs]
    rows = _range([len(data) for data in tables], "row")
    columns = _range([data.X.shape[1] for data in tables], "column")
    classes = _range([len(data.schema.classes) for data in tables], "class", "classes")
    gaps = any(np.isnan(data.X).any() for data in tables)
    return f"{rows}, {columns} and {classes}, {'some' if gaps else 'none'} with missing values"


def _range(counts: Sequence[int], one: str, many: str = "") -> str:
    """A range of counts, in words."""
    low = min(counts)
    high = max(counts)
    name = one if high == 1 else many or f"{one}s"
    return f"{high} {name}" if low == high else f"{low} to {high} {name}"


def differing(a: Floats, b: Floats) -> Bools:
    """Where two tables differ; two missing values are equal.

    >>> differing(np.array([1.0, np.nan, np.nan]), np.array([1.0, np.nan, 2.0])).tolist()
    [False, False, True]
    """
    return np.asarray((a != b) & ~(np.isnan(a) & np.isnan(b)))


Rows = tuple[tuple[float, int, int], ...]
FAR = (
    standardised.REACH
)  # beyond the length that defences clip rows to, so that such a record has the largest influence
STEEP: Rows = ((-4.0, 0, 25), (4.0, 1, 25), (0.0, 0, 460))  # value, label, how many
FLAT: Rows = ((0.0, 0, 40), (0.0, 1, 6))
QUERIES = {"steep": (2.0, 1.0, 0.0, -2.0), "flat": (-7.0, -3.0, -1.0, 0.0), "moved": (0.0, 2.0, -2.0, 7.0, -7.0)}


# --- pairs in which one record has the most influence --------------------------------------------------------------


def influential(trainer: Trainer, seed: int) -> tuple[Pair, ...]:
    """Pairs in which one record has much influence, for different reasons; both models decide the query alike.

    wide: see `adverse`. The other pairs have one column, where noise has few dimensions, and the record is at the end
    of the range. steep: the record's label changes; many rows give the model a slope, and the decision boundary lies
    beyond the query, so that score and slope fall together. flat: the record's label changes; all of the few other rows
    are at 0, so that the record has most influence on the slope. moved: the record moves from one end of the range to
    the other.
    """
    steep = fitted(trainer, _one_column(STEEP, FAR, 1))
    flat = fitted(trainer, _one_column(FLAT, FAR, 1))
    found = [
        _narrow("steep", steep, fitted(trainer, _one_column(STEEP, FAR, 0))),
        _narrow("flat", flat, fitted(trainer, _one_column(FLAT, FAR, 0))),
        _narrow("moved", flat, fitted(trainer, _one_column(FLAT, -FAR, 1))),
    ]
    return (adverse(trainer, seed=seed), *(pair for pair in found if pair is not None))


def adverse(trainer: Trainer, data: Dataset | None = None, seed: int = 0) -> Pair:
    """Data, the neighbour in which the record of highest leverage has the other label, and a query.

    Leverage is x'(Z'Z)^-1 x. The query is the row whose score changes most, among the rows that models trained on
    either data set decide alike: claims about explanations do not cover the decision. Without data: 500 rows of 20
    normal columns, within public bounds of four standard deviations.
    """
    given = data or _bounded(
        Sample(LinearGaussian(n=20_000, d=20, scale="population"), n=500, skip=500 * (1 + seed % 30)).load()
    )
    Z = np.column_stack([Encoding(given.schema).encode(given.X), np.ones(len(given))])
    leverage = (Z * np.linalg.solve(Z.T @ Z + 1e-9 * len(Z) * np.eye(Z.shape[1]), Z.T).T).sum(axis=1)
    who = int(leverage.argmax())
    y = given.y.copy()
    y[who] = (y[who] + 1) % len(given.schema.classes)
    first = fitted(trainer, given)
    second = fitted(trainer, dataclasses.replace(given, y=y))
    here = first.fitted().logits(given.X)
    there = second.fitted().logits(given.X)
    moved = np.abs(here - there).max(axis=1) * (here.argmax(axis=1) == there.argmax(axis=1))
    return Pair("wide", first, second, given.X[[int(moved.argmax())]])


def _one_column(rows: Rows, value: float, label: int) -> Dataset:
    """Rows of one column, followed by one record."""
    count = [row[2] for row in rows]
    X = np.append(np.repeat([row[0] for row in rows], count), value)
    y = np.append(np.repeat([row[1] for row in rows], count), label)
    return standardised.dataset(X[:, None], y, 2)


def _narrow(name: str, first: TrainingSet, second: TrainingSet) -> Pair | None:
    """A pair of one column with the first of its queries that is decided alike; None if there is none."""
    queries = np.array(QUERIES[name])[:, None]
    alike = np.flatnonzero(first.decisions(queries) == second.decisions(queries))
    return Pair(name, first, second, queries[alike[:1]]) if len(alike) else None


def _bounded(data: Dataset) -> Dataset:
    """The same rows, clipped to four standard deviations, which the schema declares as bounds."""
    columns = tuple(dataclasses.replace(c, low=-4.0, high=4.0, centre=0.0, spread=1.0) for c in data.schema.columns)
    return Dataset(np.clip(data.X, -4, 4), data.y, dataclasses.replace(data.schema, columns=columns))


# --- pairs whose query is the record itself ------------------------------------------------------------------------


LITTLE = 0.1  # standard deviations by which a record is moved a little
SIZES = tuple(range(2, 12))  # sizes of groups with equal values: thresholds for small groups lie in this range
AT = "at the record"
INSTEAD = "at its replacement"


def pairs(trainer: Trainer, seed: int, covers_decision: bool = False) -> tuple[Pair, ...]:
    """All pairs of numeric tables: those in which one record has most influence, and those that query the record.

    The latter put the query at the record, which is missing from the second data set, at its replacement, near it and
    away from it. They use the data sets of `influential`, the wide one with its record mirrored at the centre, normally
    distributed rows, rows with alternating labels, and evenly spaced rows. Claims about explanations do not cover the
    decision, so only queries that both models decide alike are kept. For a claim that also covers the decision, all
    are.
    """
    heavy = influential(trainer, seed)
    by = None if covers_decision else trainer
    wide = heavy[0]
    record = wide.first.data.X[wide.changed]
    mirrored = training_set(replaced(wide.first.data, wide.changed, -record), by)
    sets = (*heavy, Pair("wide and mirrored", wide.first, mirrored, wide.query))
    found = [
        *(pair for each in sets for pair in _at_the_record(each)),
        *_ordinary(by, seed),
        *_alternating(by),
        *_even(by),
    ]
    return (*heavy, *(pair for pair in found if covers_decision or pair.decided_alike))


def removals(trainer: Trainer, standard: Sequence[Pair]) -> list[Pair]:
    """The wide and the flat table without their record, for claims about records that are added or removed."""
    found: list[Pair] = []
    for pair in standard:
        if pair.name in ("wide", "flat"):
            data = pair.first.data
            rest = fitted(trainer, data.rows(np.arange(len(data)) != pair.changed))
            found.append(Pair(f"{pair.name}, the record removed", pair.first, rest, pair.query, "removed"))
    return [pair for pair in found if pair.decided_alike]


def tables(trainer: Trainer | None, seed: int) -> list[Pair]:
    """Pairs of tables with a category, for releases that accept any table; with a trainer, only those decided alike.

    One value of an ordinary record is replaced, or all values are; or one person leaves a group of people with equal
    values.
    """
    people = training_set(_people(seed), trainer)
    data = people.data
    record = data.X[0]
    other = np.array([record[0], -FAR, record[2]])
    new = np.array([FAR, FAR, (record[2] + 3) % 6])
    found = [
        *queried("another income", people, training_set(replaced(data, 0, other), trainer), {AT: record}),
        *(pair for who in (0, 2, 4) for pair in _another_region(people, who, trainer)),
        *queried("another person", people, training_set(replaced(data, 0, new), trainer), {AT: record, INSTEAD: new}),
    ]
    for size in SIZES:
        who = int(np.flatnonzero(data.X[:, 1] == _shared_income(size))[0])
        left = training_set(replaced(data, who, new), trainer)
        found += queried(f"a group of {size} loses one", people, left, {AT: data.X[who]})
    return [pair for pair in found if trainer is None or pair.decided_alike]


def _at_the_record(pair: Pair) -> list[Pair]:
    """The same data sets, queried at the record and, if its values change, at its replacement."""
    record = pair.first.data.X[pair.changed]
    replacement = pair.second.data.X[pair.changed]
    queries = {AT: record}
    if (record != replacement).any():
        queries[INSTEAD] = replacement
    return queried(pair.name, pair.first, pair.second, queries)


def _ordinary(trainer: Trainer | None, seed: int) -> list[Pair]:
    """Two hundred normal rows of three columns, of which a central one is moved a little, or far away.

    The record is the first row after sorting. It is not near the decision boundary, where the first column is 0.
    """
    data = LinearGaussian(n=200, d=3, seed=seed, scale="population").load()
    at_boundary = np.abs(data.X[:, 0]) < 0.5
    data = data.rows(np.lexsort((np.linalg.norm(data.X, axis=1), at_boundary)))
    record = data.X[0]
    little = record + LITTLE
    out = np.full(3, FAR)
    away = data.X[len(data) // 2]
    first = training_set(data, trainer)
    nudged = training_set(replaced(data, 0, little), trainer)
    sent = training_set(replaced(data, 0, out), trainer)
    near = record + LITTLE / 2
    return [
        *queried("nudged", first, nudged, {AT: record, INSTEAD: little, "away from it": away}),
        *queried("sent away", first, sent, {AT: record, INSTEAD: out, "near the record": near, "away from it": away}),
    ]


def _another_region(people: TrainingSet, who: int, trainer: Trainer | None) -> list[Pair]:
    """One person moves to the next region; the first six rows are from six different regions."""
    record = people.data.X[who]
    moved = np.array([record[0], record[1], (record[2] + 1) % 6])
    second = training_set(replaced(people.data, who, moved), trainer)
    return queried(f"from region {record[2]:g} to the next", people, second, {AT: record, INSTEAD: moved})


def _alternating(trainer: Trainer | None) -> list[Pair]:
    """Labels that alternate with the distance from the record, whose label changes: every vote of k neighbours changes.

    Among k alternating labels, the first has the majority if k is odd, and there is a tie if k is even. Two blocks of
    rows farther out, one on each side, keep linear decisions unchanged.
    """
    near = LITTLE * np.arange(61)
    blocks = np.repeat([-FAR, FAR], 60)
    X = np.append(near, blocks)[:, None]
    y = np.append(np.arange(61) % 2, np.ones(120, dtype=np.int64))
    data = standardised.dataset(X, y, 2)
    first = training_set(data, trainer)
    return queried("alternating labels", first, training_set(replaced(data, 0, X[0], 1), trainer), {AT: X[0]})


def _even(trainer: Trainer | None) -> list[Pair]:
    """Evenly spaced rows, half of each label; the first row moves to the other end.

    All values, and both labels, are equally frequent, so that one record decides which is the most frequent.
    """
    X = np.linspace(-FAR, FAR, 80)[:, None]
    data = standardised.dataset(X, (X[:, 0] > 0).astype(np.int64), 2)
    first = training_set(data, trainer)
    second = training_set(replaced(data, 0, X[-1], 1), trainer)
    return queried("even", first, second, {AT: X[0], INSTEAD: X[-1]})


def training_set(data: Dataset, trainer: Trainer | None) -> TrainingSet:
    """A training set, with a fitted model if there is a trainer."""
    return TrainingSet(data) if trainer is None else fitted(trainer, data)


def queried(name: str, first: TrainingSet, second: TrainingSet, queries: Mapping[str, Floats]) -> list[Pair]:
    """One pair of the two training sets for each query."""
    return [Pair(f"{name}, query {where}", first, second, row[None].copy(), where) for where, row in queries.items()]


def replaced(data: Dataset, who: int, row: Floats, label: int | None = None) -> Dataset:
    """The same table with one record replaced."""
    X = data.X.copy()
    y = data.y.copy()
    X[who] = row
    y[who] = y[who] if label is None else label
    return dataclasses.replace(data, X=X, y=y)


def _people(seed: int) -> Dataset:
    """A table of 250 people by age, income and region; in some groups all people have equal values.

    All values are within the bounds of the numeric tables, so that a noise scale that is right there is right here.
    """
    rng = np.random.default_rng(seed)
    age = rng.integers(-3, 4, 250).astype(np.float64)
    income = rng.uniform(-3, 3, 250).round(2)
    region = np.arange(250) % 6.0
    y = (income + 0.3 * age + rng.normal(0, 0.5, 250) > 0).astype(np.int64)
    start = 100
    for size in SIZES:
        group = slice(start, start + size)
        age[group] = 1.0
        income[group] = _shared_income(size)
        region[group] = region[start]
        y[group] = 1
        start += size
    columns = (
        Column("age", "integer", -FAR, FAR),
        Column("income", "number", -FAR, FAR),
        Column("region", "category", categories=("north", "east", "south", "west", "centre", "coast")),
    )
    return Dataset(np.column_stack([age, income, region]), y, Schema(columns, ("refused", "granted"), favourable=1))


def _shared_income(size: int) -> float:
    """The income of all people in a group; no other income has three decimal places."""
    return 2.0 + size / 1000
