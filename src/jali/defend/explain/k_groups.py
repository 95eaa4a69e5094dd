"""Counterfactuals that lead to a group of at least k training people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.anonymity.grid import Grid
from jali.anonymity.groups import partition
from jali.core.errors import JaliError
from jali.core.explanation import Gives, Regions, Wants, categories, legal
from jali.core.protocols import Model
from jali.core.values import Dataset, Ints, Rng, Schema
from jali.explain.native.groups import PreparedGroups
from jali.explain.native.rows import predictions


@dataclass(frozen=True)
class KGroups:
    """What would have to change to be like a group of at least k training people who have the desired outcome.

    The training people with a predicted outcome are cut into groups of k or more by all mutable columns, once: who asks
    plays no part (`jali.anonymity.groups`). A group is shown as intervals and sets of categories, made of whole cells
    of a grid (`jali.anonymity.grid`); at least k training people are in each cell, and no end of an interval is the
    value of one or two people. `grid` declares the width of cells by column; other columns get round widths.

    A record is compared with the nearest groups, at most `tries`. Columns in which it fits the group, and immutable
    ones, stay as they are. Columns that need not change for the outcome are left out of the answer. An answer is given
    if the model has the desired class for the nearest row and for a share `floor` of rows spread evenly over what is
    left (`jali.anonymity.region_search`). All answers are thus parts of one list of groups, and depend on the training
    rows through this list and the model alone.

    k counts people of the training set. There is no guarantee of differential privacy: the list itself is not noised,
    and people of a group may be alike. After Goethals, Sörensen and Martens, 2022 (k-anonymous counterfactuals), with
    the groups of LeFevre, DeWitt and Ramakrishnan, 2006.

    >>> from jali.core.values import Column
    >>> from jali.core.encoding import Encoding
    >>> from jali.models.fitted.linear import LinearModel
    >>> schema = Schema((Column("age", low=0, high=99, mutable=False), Column("income", spread=30)), favourable=1)
    >>> model = LinearModel(Encoding(schema), np.array([[0.0, 0.0], [0.0, 1.0]]), np.array([0.0, -1.5]))
    >>> rows = np.array([[20.0, 51], [22, 53], [25, 58], [40, 92], [41, 97], [30, 10], [31, 12]])
    >>> train = Dataset(rows, [1] * 7, schema)
    >>> rng = np.random.default_rng(0)
    >>> out = KGroups(k=2).prepare(model, schema, train, rng).explain(np.array([[21.0, 20.0]]), rng)
    >>> out.regions.low, out.regions.high
    (array([[21., 50.]]), array([[21., 60.]]))
    """

    k: int = 10
    floor: float = 0.9
    tries: int = 100
    grid: tuple[tuple[str, float], ...] = ()
    gives: ClassVar[Gives] = "counterfactual"
    wants: ClassVar[Wants] = "labels"
    reads_training_data: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.k < 2 or self.tries < 1:
            raise JaliError(f"k_groups: k must be at least 2 and tries at least 1, not {self.k} and {self.tries}.")
        if not 0 < self.floor <= 1:
            raise JaliError(f"k_groups: floor must be a share above 0, up to 1, not {self.floor}.")

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> PreparedGroups:  # noqa: ARG002
        """Cut the training people into groups; nothing is kept of them but the groups. rng is not used."""
        if train is None or len(train) == 0:
            raise JaliError("k_groups makes groups of training people, and none were given: pass them as train.")
        legal(train.X, schema)
        labels = predictions(model, train.X)[1]
        made = _made(Dataset(train.X, train.y, schema, train.groups), labels, self)
        return PreparedGroups(model, *made, self.k, self.floor, self.tries)

    def releases_rows(self) -> bool:
        """False: no row is shown, and no value of one person."""
        return False


def _made(train: Dataset, labels: Ints, part: KGroups) -> tuple[Regions, Ints, Ints]:
    """The regions, classes and sizes of all groups; immutable columns of a region hold everything."""
    schema = train.schema
    moving = np.flatnonzero([c.mutable for c in schema.columns])
    if not len(moving):
        raise JaliError("k_groups needs a column that can change, and all are immutable: leave some out of immutable.")
    person = train.group_numbers()
    if len(np.unique(person)) < part.k:
        raise JaliError(f"k_groups: k = {part.k} is more than the {len(np.unique(person))} people trained on.")
    grid = Grid.of(train, part.k, dict(part.grid))
    codes = grid.codes(train.X)[:, moving]
    sizes = np.array([len(grid.columns[j]) for j in moving])
    ranged = np.array([schema.columns[j].kind != "category" for j in moving])
    rows: list[Ints] = []
    label: list[int] = []
    for wanted in range(len(schema.classes)) if schema.favourable is None else [schema.favourable]:
        mine = np.flatnonzero(labels == wanted)
        mine = mine[np.unique(person[mine], return_index=True)[1]]  # one row of each person
        some = [mine[group] for group in partition(codes[mine], sizes, ranged, part.k)]
        rows += some
        label += [wanted] * len(some)
    if not rows:
        raise JaliError(_too_few(schema, part.k))
    hulls = _hulls(train, rows)
    regions = grid.outwards(hulls, np.setdiff1d(np.arange(len(schema.columns)), moving))
    return regions, np.array(label), np.array([len(who) for who in rows])


def _hulls(train: Dataset, rows: list[Ints]) -> Regions:
    """The least region that holds each group; rows: those of its people."""
    low = np.stack([train.X[who].min(axis=0) for who in rows])
    high = np.stack([train.X[who].max(axis=0) for who in rows])
    allowed = np.zeros((len(rows), len(train.schema.columns), _widest(train.schema)), dtype=bool)
    for j in categories(train.schema):
        for group, who in enumerate(rows):
            allowed[group, j, train.X[who, j].astype(np.int64)] = True
    for j, column in enumerate(train.schema.columns):
        if not column.mutable:
            low[:, j] = -np.inf if column.kind != "category" else 0
            high[:, j] = np.inf if column.kind != "category" else 0
            allowed[:, j, : len(column.categories)] = True
    return Regions(low, high, allowed, train.schema)


def _widest(schema: Schema) -> int:
    return max((len(column.categories) for column in schema.columns), default=0)


def _too_few(schema: Schema, k: int) -> str:
    hoped = "any class" if schema.favourable is None else repr(schema.classes[schema.favourable])
    return (
        f"k_groups: the model predicts {hoped} for fewer than k = {k} training people, so there is no group to show: "
        "choose a smaller k or another favourable class."
    )
