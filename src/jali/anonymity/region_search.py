"""Search among regions for what a record would have to change: the nearest region that leads to the desired class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from jali.core.distance import ranges
from jali.core.explanation import Regions, categories
from jali.core.protocols import Model
from jali.core.values import Bools, Floats, Ints

POINTS = 32  # rows of a region that the model is asked about: the nearest one, and others spread evenly
ASKED = 1 << 15  # rows that the model is asked about at once


class Answers(NamedTuple):
    """Which records (n,) have an answer, and of these (m,) the region, and the columns (m, D) that change."""

    got: Bools
    region: Ints
    change: Bools


def spread_evenly(points: int, columns: int) -> Floats:
    """Points (points, columns) that cover the unit cube evenly and are always the same (Roberts' R sequence)."""
    root = 2.0
    for _ in range(40):
        root = (1 + root) ** (1 / (columns + 1))  # the real root of x^(columns + 1) = x + 1
    steps = root ** -np.arange(1.0, columns + 1)
    return np.asarray((0.5 + np.outer(np.arange(points), steps)) % 1)


def needed(X: Floats, regions: Regions) -> Bools:
    """The columns (n, D) in which each record lies outside its region."""
    out = (regions.low > X) | (regions.high < X)
    at = np.arange(len(X))
    for j in categories(regions.schema):
        out[:, j] = ~regions.allowed[at, j, X[:, j].astype(np.int64)]
    return out


def distances(X: Floats, regions: Regions) -> Floats:
    """Distance (n, G) of records from regions: gaps of numbers over the range of the column, and 1 for a category.

    >>> from jali.core.values import Column, Schema
    >>> schema = Schema((Column("age", low=0, high=100),))
    >>> some = Regions(np.array([[20.0], [40.0]]), np.array([[30.0], [50.0]]), np.zeros((2, 1, 0)), schema)
    >>> distances(np.array([[25.0], [35.0]]), some)
    array([[0.  , 0.15],
           [0.05, 0.05]])
    """
    schema = regions.schema
    held = np.where(np.isfinite(regions.high), regions.high, 0.0)
    spans = np.where(ranges(schema, held) > 0, ranges(schema, held), 1.0)
    named = categories(schema)
    out = np.zeros((len(X), len(regions)))
    for j in range(X.shape[1]):
        if j in named:
            out += ~regions.allowed[:, j, X[:, j].astype(np.int64)].T
        else:
            below = regions.low[:, j] - X[:, j, None]
            above = X[:, j, None] - regions.high[:, j]
            out += np.maximum(np.maximum(below, above), 0.0) / spans[j]
    return out


@dataclass(frozen=True, eq=False)
class Trial:
    """Regions to try for records that want classes (C,); floor: the least share of rows with such a class."""

    model: Model
    regions: Regions
    floor: float
    classes: Bools

    def answers(self, X: Floats, order: Ints) -> Answers:
        """The first region of each record's order (n, T) that leads to the desired class, with few changes."""
        region = np.full(len(X), -1)
        change = np.zeros(X.shape, dtype=bool)
        for column in order.T:
            todo = np.flatnonzero(region < 0)
            if not len(todo):
                break
            moves = needed(X[todo], self.regions.pick(column[todo]))
            good = self._leads(X[todo], column[todo], moves)
            region[todo[good]] = column[todo[good]]
            change[todo[good]] = moves[good]
        got = region >= 0
        return Answers(got, region[got], self._fewer(X[got], region[got], change[got]))

    def _fewer(self, X: Floats, region: Ints, change: Bools) -> Bools:
        """The columns that change, without those that need not: each is left as it is, if that still leads there."""
        change = change.copy()
        named = categories(self.regions.schema)
        for j in [*named, *(j for j in range(X.shape[1]) if j not in named)]:
            todo = np.flatnonzero(change[:, j])
            without = change[todo]
            without[:, j] = False
            good = self._leads(X[todo], region[todo], without)
            change[todo[good], j] = False
        return change

    def _leads(self, X: Floats, region: Ints, change: Bools) -> Bools:
        """Whether (n,) the nearest row, and enough of the others, have a desired class if these columns change."""
        share = self.share(X, region, change)
        return np.asarray((share[:, 0] > 0) & (share[:, 1] >= self.floor))

    def share(self, X: Floats, region: Ints, change: Bools) -> Floats:
        """Whether the nearest row has a desired class, and the share of all rows tried that have one, (n, 2)."""
        out = np.zeros((len(X), 2))
        size = max(1, ASKED // POINTS)
        for some in np.split(np.arange(len(X)), range(size, len(X), size)):
            if len(some):
                rows = points(X[some], self.regions.pick(region[some]), change[some])
                labels = self.model.logits(rows.reshape(-1, X.shape[1])).argmax(axis=1).reshape(len(some), POINTS)
                good = self.classes[labels]
                out[some] = np.stack([good[:, 0], good.mean(axis=1)], axis=1)
        return out


def points(X: Floats, regions: Regions, change: Bools) -> Floats:
    """Rows (n, POINTS, D) of each record with the chosen columns inside its region; the first is the nearest."""
    u = spread_evenly(POINTS, X.shape[1])
    out = np.repeat(X[:, None], POINTS, axis=1)
    nearest = regions.nearest(X)
    for j, column in enumerate(regions.schema.columns):
        who = np.flatnonzero(change[:, j])
        if not len(who):
            continue
        if column.kind == "category":
            open_to = regions.allowed[who, j]
            rank = np.floor(u[:, j] * open_to.sum(axis=1)[:, None])
            inside = (np.cumsum(open_to, axis=1)[:, None] - 1 == rank[:, :, None]) & open_to[:, None]
            out[who, :, j] = inside.argmax(axis=2)
        else:
            low = regions.low[who, j, None]
            drawn = low + u[:, j] * (regions.high[who, j, None] - low)
            out[who, :, j] = np.rint(drawn) if column.kind == "integer" else drawn
        out[who, 0, j] = nearest[who, j]
    return out
