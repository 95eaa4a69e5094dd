"""Random legal rows at a chosen distance from given rows, for searches that only query labels.

Distances are those of the encoded features, computed from raw rows: a number counts in units of its spread, a changed
category by the two one-hot features that flip: distance^q = sum_j |move_j / spread_j|^q + 2 (categories changed), with
q = 1 or 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jali.core.values import Column, Floats, Ints, Rng, Schema

CHANGED = 2.0  # added to distance^q by a changed category: one one-hot feature falls, another rises


@dataclass(frozen=True)
class Draw:
    """The random draws of S moves, shared by all rows so that no row depends on the others.

    heading (S, p): numeric moves of length one. depth (S,): position between the inner and outer radius. share (S,):
    how much of the radius goes to categories. rank (S, m): the order in which categories change. turn (S, m): by how
    many codes a category is shifted.
    """

    heading: Floats
    depth: Floats
    share: Floats
    rank: Ints
    turn: Ints


@dataclass(frozen=True)
class Freedom:
    """The mutable columns of a schema, and distances between rows that differ in them (q = `power`).

    >>> columns = (Column("age", "integer", spread=10.0), Column("job", "category", categories=("a", "b")))
    >>> Freedom(Schema(columns), 2).distance(np.array([[30.0, 1.0]]), np.array([[40.0, 0.0]])) ** 2
    array([3.])
    """

    schema: Schema
    power: int

    @cached_property
    def numbers(self) -> Ints:
        """Raw columns (p,) that are mutable numbers."""
        return np.flatnonzero([c.mutable and c.kind != "category" for c in self.schema.columns])

    @cached_property
    def codes(self) -> Ints:
        """Raw columns (m,) that are mutable categories with another value to take."""
        return np.flatnonzero([c.mutable and len(c.categories) > 1 for c in self.schema.columns])

    @cached_property
    def columns(self) -> Ints:
        """All raw columns (p + m,) that may change, numbers first."""
        return np.concatenate([self.numbers, self.codes])

    def parts(self, rows: Floats, origin: Floats) -> Floats:
        """What each free column (n, p + m) adds to distance^q between rows and their origin (n, D)."""
        spread = np.array([self.schema.columns[j].spread for j in self.numbers])
        moved = np.abs(rows[:, self.numbers] - origin[:, self.numbers]) / spread
        changed = rows[:, self.codes] != origin[:, self.codes]
        return np.concatenate([moved**self.power, CHANGED * changed], axis=1)

    def distance(self, rows: Floats, origin: Floats) -> Floats:
        """Distance (...) of the encoded features between rows (..., D) and their origin, whose shape broadcasts."""
        total = np.zeros(rows.shape[:-1])
        for j in self.numbers:  # column by column, as `around` lays them out
            total += (np.abs(rows[..., j] - origin[..., j]) / self.schema.columns[j].spread) ** self.power
        for j in self.codes:
            total += CHANGED * (rows[..., j] != origin[..., j])
        return np.asarray(total ** (1 / self.power))

    def draw(self, samples: int, rng: Rng) -> Draw:
        """The random draws of a set of moves, uniform on the l1 or l2 sphere."""
        size = (samples, len(self.numbers))
        changes = (samples, len(self.codes))
        heading = rng.standard_normal(size) if self.power == 2 else rng.laplace(size=size)
        length = (np.abs(heading) ** self.power).sum(axis=1, keepdims=True) ** (1 / self.power)
        places = np.array([len(self.schema.columns[j].categories) for j in self.codes], dtype=np.int64)
        rank = rng.random(changes).argsort(axis=1)
        turn = rng.integers(1, places, changes)
        heading = np.asfortranarray(heading / np.maximum(length, 1e-300))  # read column by column
        return Draw(heading, rng.random(samples), rng.random(samples), rank, turn)

    def around(self, centre: Floats, low: Floats, high: Floats, draw: Draw) -> Floats:
        """Legal rows (n, S, D) between distance low (n,) and high (n,) of their centre (n, D).

        The radius is uniform in volume. A random number of categories, as many as the radius allows, change first,
        and the numbers share the rest of the distance. Rounding then moves a row by at most half a unit per column, and
        clipping to the bounds brings it nearer.
        """
        width = max(len(self.numbers), 1)
        inner = ((low / high) ** width)[:, None]
        paid = (high[:, None] * (inner + draw.depth * (1 - inner)) ** (1 / width)) ** self.power
        changes = np.floor(draw.share * (1 + np.minimum(paid // CHANGED, len(self.codes))))
        length = (paid - CHANGED * changes) ** (1 / self.power)
        # One contiguous block per column: otherwise building rows takes longer than querying a small model.
        rows = np.repeat(centre.T[:, :, None], len(draw.depth), axis=2)
        for i, j in enumerate(self.codes):
            turned = (rows[j] + draw.turn[:, i]) % len(self.schema.columns[j].categories)
            rows[j] = np.where(draw.rank[:, i] < changes, turned, rows[j])
        for i, j in enumerate(self.numbers):
            rows[j] += length * (draw.heading[:, i] * self.schema.columns[j].spread)
            rows[j] = _legal(self.schema.columns[j], rows[j])
        return rows.transpose(1, 2, 0)

    def between(self, origin: Floats, rows: Floats, part: Floats) -> Floats:
        """Legal rows (n, D) at a fraction part (n,) of the line from their origin to rows; categories as in rows."""
        out = rows.copy()
        for j in self.numbers:
            out[:, j] = _legal(self.schema.columns[j], origin[:, j] + part * (rows[:, j] - origin[:, j]))
        return out


def _legal(column: Column, values: Floats) -> Floats:
    """Values of a numeric column, rounded if it is an integer column and clipped to its bounds."""
    values = np.rint(values) if column.kind == "integer" else values
    bounded = np.isfinite(column.low) or np.isfinite(column.high)
    return np.clip(values, column.low, column.high) if bounded else values
