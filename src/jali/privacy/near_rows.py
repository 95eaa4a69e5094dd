"""Rows of one table that are rows of another up to rounding, units of columns or length of rows.

A copy of a row lies much closer to it than any other person does. A public row counts as a copy if its distance to the
nearest row of the data is less than a tenth of the distance from that row to the next row of the data. Of other people
of the same population, this is so for a share of about a tenth to the power of the number of dimensions. The share is
estimated where the public rows lie, from rows of the data as if they were public.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from jali.core.encoding import Encoding
from jali.core.values import Dataset, Floats, Ints

CLOSE = 0.1  # the largest distance of a copy, as a share of the distance to the next person
HALF = 0.5  # the same for people who are no copies, but frequent enough to be counted
CHANCE = 1e-7  # probability of taking other people for copies, for each way to compare
LOOKED_AT = 500  # public rows that are compared
WORK = 2_000_000_000  # products of two numbers for one comparison of all rows, which limits the rows of the data
FEWEST = 20  # rows of the data, below which distances say nothing


class Near(NamedTuple):
    """How many public rows are copies, of how many that were looked at."""

    same: int
    of: int


def near_rows(public: Dataset, data: Dataset) -> Near | None:
    """The public rows that are close copies of rows of the data; None if other people explain them."""
    if len(data) < FEWEST or not len(public):
        return None
    found = (_copies(mine, theirs) for mine, theirs in _forms(public, data))
    return next((near for near in found if near is not None), None)


def _forms(public: Dataset, data: Dataset) -> Iterator[tuple[Floats, Floats]]:
    """Both tables in units of the data, each in units of its own, and as directions of encoded rows."""
    rng = np.random.default_rng(0)
    mine = public.X[np.sort(rng.permutation(len(public))[:LOOKED_AT])]
    most = max(FEWEST, WORK // (LOOKED_AT * data.X.shape[1]))
    theirs = data.X[np.sort(rng.permutation(len(data))[:most])]
    yield _scaled(mine, data.X), _scaled(theirs, data.X)
    yield _scaled(mine, public.X), _scaled(theirs, data.X)
    here = Encoding(public.schema)
    there = Encoding(data.schema)
    if len(here.source) == len(there.source):
        yield _directions(here.encode(mine)), _directions(there.encode(theirs))


def _scaled(rows: Floats, like: Floats) -> Floats:
    """Rows in standard deviations of a table; missing values are its means."""
    known = np.ma.masked_invalid(like)
    centre = known.mean(axis=0).filled(0.0)
    spread = known.std(axis=0).filled(0.0)
    filled = np.where(np.isnan(rows), centre, rows)
    return np.asarray((filled - centre) / np.where(spread > 0, spread, 1.0))


def _directions(rows: Floats) -> Floats:
    """Rows divided by their length."""
    size = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(size > 0, size, 1.0))


def _copies(mine: Floats, theirs: Floats) -> Near | None:
    """How many of my rows are copies of theirs; None if other people explain them."""
    from scipy.stats import binom

    nearest = _nearest(mine, theirs, 1)[:, 0]
    same = int(np.count_nonzero(_closer(mine, nearest, theirs, np.full(len(mine), -1), CLOSE)))
    around = np.unique(nearest)
    other = _others(theirs, around)
    close = _closer(theirs[around], other, theirs, around, CLOSE)
    near = _closer(theirs[around], other, theirs, around, HALF)
    many = len(around)
    dimensions = np.log((near.sum() + 1) / (many + 1)) / np.log(HALF)
    by_chance = max(CLOSE**dimensions, (close.sum() + 1) / (many + 1) if close.any() else 0.0)
    return Near(same, len(mine)) if binom.sf(same - 1, len(mine), min(1.0, by_chance)) <= CHANCE else None


def _closer(rows: Floats, nearest: Ints, theirs: Floats, itself: Ints, share: float) -> Floats:
    """Which rows (n,) are closer to their nearest of theirs than this share of its distance to the next of theirs.

    itself (n,): where a row is among theirs, which then is no neighbour; -1 if it is not among them.
    """
    three = _nearest(theirs[nearest], theirs, 3)
    left_out = (three == nearest[:, None]) | (three == itself[:, None])
    next_one = np.take_along_axis(three, left_out.argmin(axis=1)[:, None], axis=1)[:, 0]
    distance = np.linalg.norm(rows - theirs[nearest], axis=1)
    room = np.linalg.norm(theirs[next_one] - theirs[nearest], axis=1)
    return np.asarray(distance < share * room)


def _others(theirs: Floats, at: Ints) -> Ints:
    """The nearest other row (n,) of the rows at (n,)."""
    two = _nearest(theirs[at], theirs, 2)
    return np.where(two[:, 0] == at, two[:, 1], two[:, 0])


def _nearest(rows: Floats, theirs: Floats, many: int) -> Ints:
    """The nearest of theirs (n, many), nearest first."""
    squares = (theirs**2).sum(axis=1) - 2 * rows @ theirs.T
    some = np.argpartition(squares, many - 1, axis=1)[:, :many]
    order = np.take_along_axis(squares, some, axis=1).argsort(axis=1, kind="stable")
    return np.take_along_axis(some, order, axis=1)
