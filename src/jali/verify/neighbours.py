"""Neighbouring data sets: two tables that differ in one record, and a query that is asked of both."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from jali.core.encoding import Encoding
from jali.core.protocols import Model, Trainer
from jali.core.values import Column, Dataset, Floats, Schema
from jali.data.linear_gaussian import LinearGaussian
from jali.data.sample import Sample
from jali.data.tables import standard


@dataclass(frozen=True)
class Worlds:
    """Two training sets that differ in one record, and the query (1, D) asked of both."""

    name: str
    data: Dataset
    neighbour: Dataset
    query: Floats

    def __str__(self) -> str:
        rows, columns = self.data.X.shape
        return f"{self.name} ({rows} rows of {columns} column{'s' if columns > 1 else ''})"

    @property
    def changed(self) -> int:
        """The row that holds the record in one data set and what replaces it in the other."""
        differs = (self.data.X != self.neighbour.X).any(axis=1) | (self.data.y != self.neighbour.y)
        return int(np.flatnonzero(differs)[0])


Rows = tuple[tuple[float, int, int], ...]
FAR = standard.REACH  # beyond the length that defences cut rows to, so that a record here counts as much as one can
STEEP: Rows = ((-4.0, 0, 25), (4.0, 1, 25), (0.0, 0, 460))  # value, label, how many
FLAT: Rows = ((0.0, 0, 40), (0.0, 1, 6))
QUERIES = {"steep": (2.0, 1.0, 0.0, -2.0), "flat": (-7.0, -3.0, -1.0, 0.0), "moved": (0.0, 2.0, -2.0, 7.0, -7.0)}


# --- pairs in which one record weighs most -------------------------------------------------------------------------


def weighty(trainer: Trainer, seed: int) -> tuple[Worlds, ...]:
    """Pairs of worlds that are adverse in different ways, in which models of the trainer decide the query alike.

    wide: see `adverse`. The others have one column, where noise has little room, and one record at the end of it.
    steep: it changes its label, and many rows make a slope that recourse can follow, past a boundary that lies
    beyond the query; score and slope fall together. flat: it changes its label among few rows, of which none but it
    has a value, so that little resists. moved: its value goes from one end to the other.
    """
    ends = {"steep": (STEEP, (FAR, 0)), "flat": (FLAT, (FAR, 0)), "moved": (FLAT, (-FAR, 1))}
    made = [_narrow(name, rows, other, trainer) for name, (rows, other) in ends.items()]
    return (adverse(trainer, seed=seed), *(pair for pair in made if pair is not None))


def adverse(trainer: Trainer, data: Dataset | None = None, seed: int = 0) -> Worlds:
    """Data, the neighbour whose record of highest leverage has the other label, and the query this tells most about.

    Leverage is x'(Z'Z)^-1 x. The query is the row whose score the label moves most, among those that models trained
    on either data set decide alike: claims about explanations do not cover the decision. Without data: 500 rows of
    20 normal columns, within public bounds of four standard deviations.
    """
    given = data or _bounded(Sample(LinearGaussian(n=20_000, d=20), n=500, skip=500 * (1 + seed % 30)).load())
    Z = np.column_stack([Encoding(given.schema).encode(given.X), np.ones(len(given))])
    leverage = (Z * np.linalg.solve(Z.T @ Z + 1e-9 * len(Z) * np.eye(Z.shape[1]), Z.T).T).sum(axis=1)
    who, y = int(leverage.argmax()), given.y.copy()
    y[who] = (y[who] + 1) % len(given.schema.classes)
    other = dataclasses.replace(given, y=y)
    here, there = (fitted(trainer, d).logits(given.X) for d in (given, other))
    moved = np.abs(here - there).max(axis=1) * (here.argmax(axis=1) == there.argmax(axis=1))
    return Worlds("wide", given, other, given.X[[int(moved.argmax())]])


def alike(trainer: Trainer | None, pair: Worlds, most: int = 30) -> Floats:
    """The query of a pair, and after it rows (n, D) of its data; with a trainer those that both models decide alike."""
    rows = np.vstack([pair.query, np.unique(pair.data.X, axis=0)])
    if trainer is None:
        return np.asarray(rows[:most])
    here, there = (fitted(trainer, d).logits(rows).argmax(axis=1) for d in (pair.data, pair.neighbour))
    return np.asarray(rows[here == there][:most])


def fitted(trainer: Trainer, data: Dataset) -> Model:
    """One model of all rows."""
    return trainer.fit(data, np.ones((len(data), 1), dtype=bool), [np.random.default_rng(0)])[0]


def _narrow(name: str, rows: Rows, other: tuple[float, int], trainer: Trainer) -> Worlds | None:
    """Rows of one column and a record (FAR, 1) or, in the other world, `other`; the first query decided alike."""
    value, label, count = zip(*rows, strict=True)
    X, y = np.repeat(value, count), np.repeat(label, count)
    worlds = [standard.dataset(np.append(X, x)[:, None], np.append(y, c), 2) for x, c in ((FAR, 1), other)]
    queries = np.array(QUERIES[name])[:, None]
    here, there = (fitted(trainer, d).logits(queries).argmax(axis=1) for d in worlds)
    alike = np.flatnonzero(here == there)
    return Worlds(name, worlds[0], worlds[1], queries[alike[:1]]) if len(alike) else None


def _bounded(data: Dataset) -> Dataset:
    """The same rows, cut to four standard deviations, which the schema declares."""
    columns = tuple(dataclasses.replace(c, low=-4.0, high=4.0, centre=0.0, spread=1.0) for c in data.schema.columns)
    return Dataset(np.clip(data.X, -4, 4), data.y, dataclasses.replace(data.schema, columns=columns))


# --- pairs about the record itself ---------------------------------------------------------------------------------


LITTLE = 0.1  # standard deviations by which a record is moved a little
SIZES = tuple(range(2, 12))  # people who share all values: rules about small groups change at such counts


def pairs(trainer: Trainer, seed: int, covers_decision: bool = False) -> tuple[Worlds, ...]:
    """All pairs of tables of numbers: those in which one record weighs most, and those that ask about the record.

    The latter ask at the record, which the neighbour does not hold, at what replaces it, near it and away from it: in
    the pairs of `weighty` and where the record of the wide one is mirrored at the centre, among an ordinary spread of
    rows, in a neighbourhood where every label counts, and among rows of which no value is more frequent than another.
    Claims about explanations do not cover the decision, so queries are kept that models of both data sets decide alike;
    a claim that covers the decision too is asked everything.
    """
    heavy = weighty(trainer, seed)
    wide = heavy[0]
    mirrored = _replaced(wide.data, wide.changed, -wide.data.X[wide.changed])
    sets = (*heavy, Worlds("wide and mirrored", wide.data, mirrored, wide.query))
    by = None if covers_decision else trainer
    about = [pair for each in sets for pair in _about(each, by)]
    return (*heavy, *about, *ordinary(by, seed), *_alternating(by), *_even(by))


def ordinary(trainer: Trainer | None, seed: int) -> list[Worlds]:
    """Two hundred normal rows of three columns, of which a central one is moved a little or far out.

    The record is the first row, off the boundary, which lies where the first column is 0. Only queries that both models
    decide alike are kept.
    """
    data = LinearGaussian(n=200, d=3, seed=seed).load()
    at_boundary = np.abs(data.X[:, 0]) < 0.5
    data = data.rows(np.lexsort((np.linalg.norm(data.X, axis=1), at_boundary)))
    record = data.X[0]
    little = record + LITTLE
    away = data.X[len(data) // 2]
    out = _replaced(data, 0, np.full(3, FAR))
    return [
        *_asked(
            "nudged", data, _replaced(data, 0, little), {AT: record, INSTEAD: little, "away from it": away}, trainer
        ),
        *_asked(
            "sent away",
            data,
            out,
            {AT: record, INSTEAD: out.X[0], "near the record": record + LITTLE / 2, "away from it": away},
            trainer,
        ),
    ]


def tables(trainer: Trainer | None, seed: int) -> list[Worlds]:
    """Pairs of tables with a category, for releases that take any table.

    One value of an ordinary record is replaced, or all are; or somebody leaves a group of people who share all values,
    so that the group has one fewer.
    """
    data = _people(seed)
    record = data.X[0]
    other = np.array([record[0], -FAR, record[2]])
    new = np.array([FAR, FAR, (record[2] + 3) % 6])
    found = [
        *_asked("another income", data, _replaced(data, 0, other), {AT: record}, trainer),
        *(pair for who in (0, 2, 4) for pair in _another_region(data, who, trainer)),
        *_asked("another person", data, _replaced(data, 0, new), {AT: record, INSTEAD: new}, trainer),
    ]
    for size in SIZES:
        who = int(np.flatnonzero(data.X[:, 1] == _shared_income(size))[0])
        left = _replaced(data, who, new)
        found += _asked(f"a group of {size} loses one", data, left, {AT: data.X[who]}, trainer)
    return found


AT, INSTEAD = "at the record", "at its replacement"


def _another_region(data: Dataset, who: int, trainer: Trainer | None) -> list[Worlds]:
    """Somebody moves to the next region: people of the first six rows are of one region each."""
    record = data.X[who]
    moved = np.array([record[0], record[1], (record[2] + 1) % 6])
    return _asked(
        f"from region {record[2]:g} to the next",
        data,
        _replaced(data, who, moved),
        {AT: record, INSTEAD: moved},
        trainer,
    )


def _about(pair: Worlds, trainer: Trainer | None) -> list[Worlds]:
    """The same data sets, asked at the record and, if its values change, at what replaces it."""
    who = pair.changed
    queries = {AT: pair.data.X[who]}
    if (pair.data.X[who] != pair.neighbour.X[who]).any():
        queries[INSTEAD] = pair.neighbour.X[who]
    return _asked(pair.name, pair.data, pair.neighbour, queries, trainer)


def _alternating(trainer: Trainer | None) -> list[Worlds]:
    """Labels that alternate with the distance from a record, whose own changes: every vote of neighbours turns.

    Of k labels that alternate, the first has the majority for odd k and the tie for even k. Two blocks farther out,
    one at each side, keep a linear decision as it is.
    """
    near = LITTLE * np.arange(61)
    blocks = np.repeat([-FAR, FAR], 60)
    X = np.append(near, blocks)[:, None]
    y = np.append(np.arange(61) % 2, np.ones(120, dtype=np.int64))
    data = standard.dataset(X, y, 2)
    return _asked("alternating labels", data, _replaced(data, 0, X[0], 1), {AT: X[0]}, trainer)


def _even(trainer: Trainer | None) -> list[Worlds]:
    """Rows at equal steps from one end to the other, as many of each label; the first goes to the other end.

    Counts of values or labels are tied, so that the largest of them, noised or not, changes with one record.
    """
    X = np.linspace(-FAR, FAR, 80)[:, None]
    data = standard.dataset(X, (X[:, 0] > 0).astype(np.int64), 2)
    return _asked("even", data, _replaced(data, 0, X[-1], 1), {AT: X[0], INSTEAD: X[-1]}, trainer)


def _asked(
    name: str, data: Dataset, neighbour: Dataset, queries: Mapping[str, Floats], trainer: Trainer | None
) -> list[Worlds]:
    """One pair for each query, if there is a trainer each that its models of both data sets decide alike."""
    made = [Worlds(f"{name}, asked {where}", data, neighbour, row[None].copy()) for where, row in queries.items()]
    if trainer is None:
        return made
    rows = np.vstack([pair.query for pair in made])
    here, there = (fitted(trainer, d).logits(rows).argmax(axis=1) for d in (data, neighbour))
    return [pair for pair, a, b in zip(made, here, there, strict=True) if a == b]


def _replaced(data: Dataset, who: int, row: Floats, label: int | None = None) -> Dataset:
    """The same table with one record replaced."""
    X = data.X.copy()
    y = data.y.copy()
    X[who] = row
    y[who] = y[who] if label is None else label
    return dataclasses.replace(data, X=X, y=y)


def _people(seed: int) -> Dataset:
    """A table of 250 people by age, income and region; some groups share all values.

    All values lie between the same bounds as in the tables of numbers, so that what is right there is right here.
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
    """The income of all in a group; nobody else's has three digits after the point."""
    return 2.0 + size / 1000
