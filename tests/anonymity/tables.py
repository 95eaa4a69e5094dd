"""Small tables of people, models of them given by a rule, and answers counted without any of the code under test."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from jali.anonymity.frequency_table import FrequencyTable
from jali.anonymity.grasp import Cores
from jali.anonymity.pureness import Poll
from jali.core.values import Column, Dataset, Floats, Schema

SINGLE = ("Cohabiting", "Married", "Separated", "Single", "Widowed")
TOY = Schema(
    (
        Column("age", "integer", 0, 99, role="quasi"),
        Column("gender", "category", categories=("F", "M"), role="quasi"),
        Column("city", "category", categories=("Antwerp", "Brussels"), role="quasi"),
        Column("salary", "number", 0, 200),
        Column("relationship", "category", categories=SINGLE),
    ),
    classes=("reject", "accept"),
    favourable=1,
)
NAMES = ("Alfred", "Boris", "Casper", "Derek", "Edward", "Fiona", "Gina", "Hilda", "Ingrid", "Jade")
PEOPLE = np.array(
    [
        [25, 1, 1, 50, 3],
        [23, 1, 0, 40, 2],
        [34, 1, 1, 30, 0],
        [47, 1, 0, 100, 1],
        [70, 1, 1, 90, 3],
        [24, 0, 0, 60, 3],
        [27, 0, 0, 80, 1],
        [38, 0, 1, 60, 4],
        [26, 0, 0, 60, 3],
        [50, 0, 1, 100, 1],
    ],
    dtype=float,
)
LISA = np.array([[21.0, 0, 1, 50, 3]])


@dataclass(frozen=True, eq=False)
class Rule:
    """A model that says yes where a rule does."""

    rule: Callable[[Floats], Floats]

    def logits(self, X: Floats) -> Floats:
        yes = np.asarray(self.rule(X), dtype=float)
        return np.stack([0.5 - yes, yes - 0.5], axis=1)


def bank() -> Rule:
    """Accepts 60,000 up to the age of 25, and 80,000 at any age."""
    return Rule(lambda X: ((X[:, 3] >= 60) & (X[:, 0] <= 25)) | (X[:, 3] >= 80))


def toy() -> Dataset:
    return Dataset(PEOPLE, bank().logits(PEOPLE).argmax(axis=1), TOY)


def mixed(n: int, seed: int, ages: int = 12, hard: float = 0.5) -> tuple[Dataset, Rule]:
    """People with two numbers and two categories as quasi-identifiers, and a model that reads all of it."""
    rng = np.random.default_rng(seed)
    schema = Schema(
        (
            Column("age", "integer", 0, ages, role="quasi"),
            Column("income", "number", 0, 1),
            Column("children", "integer", 0, 3, role="quasi"),
            Column("job", "category", categories=("a", "b", "c", "d"), role="quasi"),
            Column("sex", "category", categories=("f", "m"), role="quasi"),
        ),
        favourable=1,
    )
    X = np.stack(
        [
            rng.integers(0, ages, n),
            rng.random(n),
            rng.integers(0, 4, n),
            rng.integers(0, 4, n),
            rng.integers(0, 2, n),
        ],
        axis=1,
    ).astype(float)
    w = hard * rng.normal(size=3)

    def score(Z: Floats) -> Floats:
        return Z[:, 1] + w[0] * Z[:, 0] / ages + w[1] * (Z[:, 3] == 2) + w[2] * Z[:, 2] / 4

    level = np.quantile(score(X), 0.6)
    model = Rule(lambda Z: score(Z) > level)
    return Dataset(X, model.logits(X).argmax(axis=1), schema), model


def settled(train: Dataset, names: tuple[str, ...] = ("sex", "children")) -> Dataset:
    """The same people, with columns that cannot change."""
    columns = tuple(replace(c, mutable=c.name not in names) for c in train.schema.columns)
    return Dataset(train.X, train.y, replace(train.schema, columns=columns), train.groups)


def around(train: Dataset, model: Rule, rows, most: int = 1000) -> tuple[FrequencyTable, Poll, Cores]:
    """What a solver is given for some training rows."""
    crowd = FrequencyTable.of(train, agree=True)
    said = model.logits(train.X).argmax(axis=1)
    cores = Cores(train.X[rows], crowd.coded(train.X[rows]), said[rows])
    return crowd, Poll(model, crowd, cores.rows, cores.wanted, most), cores


def every_box(train: Dataset, row: Floats):
    """Every list of values of each quasi-identifier that holds those of a row, and is had by somebody in the table."""
    quasi = [j for j, c in enumerate(train.schema.columns) if c.role == "quasi"]
    choices = []
    for j in quasi:
        values = np.unique(train.X[:, j])
        if not train.schema.columns[j].mutable:
            choices.append([[row[j]]])
        elif train.schema.columns[j].kind == "category":
            others = [v for v in values if v != row[j]]
            sets = itertools.chain.from_iterable(itertools.combinations(others, r) for r in range(len(others) + 1))
            choices.append([sorted([row[j], *s]) for s in sets])
        else:
            ends = itertools.product(values[values <= row[j]], values[values >= row[j]])
            choices.append([[v for v in values if a <= v <= b] for a, b in ends])
    return quasi, itertools.product(*choices)


def brute(train: Dataset, model: Rule, row: Floats, wanted: int, k: int, floor: float) -> float:
    """Least NCP of all boxes of k people that are pure enough, by trying every one."""
    best = np.inf
    quasi, boxes = every_box(train, row)
    for box in boxes:
        inside = np.all([np.isin(train.X[:, j], v) for j, v in zip(quasi, box, strict=True)], axis=0)
        if inside.sum() < k:
            continue
        loss = 0.0
        for j, v in zip(quasi, box, strict=True):
            known = np.unique(train.X[:, j])
            if train.schema.columns[j].kind == "category":
                loss += (len(v) if len(v) > 1 else 0) / len(known) / len(quasi)
            else:
                loss += (v[-1] - v[0]) / (known[-1] - known[0]) / len(quasi)
        if loss < best - 1e-9 and pureness(model, row, wanted, quasi, box) >= floor - 1e-9:
            best = loss
    return best


def pureness(model: Rule, row: Floats, wanted: int, quasi: list[int], box) -> float:
    """Share of the combinations of a box with the class wanted."""
    rows = []
    for values in itertools.product(*box):
        rows.append(row.copy())
        rows[-1][quasi] = values
    return float((model.logits(np.array(rows)).argmax(axis=1) == wanted).mean())
