"""Distance of records to another label, found from labels alone; many records at once.

n records, B probes, D columns. Numbers move in units (D,) of the adversary's choice; a column with unit 0 stays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from jali.core.values import Bools, Dataset, Floats, Ints, Rng
from jali.query_attacks._perturb import at_once
from jali.query_attacks._shadow import Labeller

REACH = 0.125 * 2.0 ** np.arange(
    10
)  # radii tried for a start, in units; a record without another label there gets the last
HALVINGS = 12  # of the segment that crosses the boundary
STRIDES = 5  # halvings of a step that ends in the wanted label
NEAR = 0.1  # distance of the probes around a boundary point, as a share of its distance to the record


@dataclass(frozen=True)
class Ground:
    """The search space: unit, low and high (D,), directions (T + 1, B, D) for the start and T steps, known rows (A, D).

    All records are probed in the same directions, so that no result depends on the other records or on their order.
    """

    unit: Floats
    low: Floats
    high: Floats
    probes: Floats
    rows: Floats

    @classmethod
    def of(cls, known: Dataset, unit: Floats, steps: int, probes: int, rng: Rng) -> Ground:
        """The search space of a table, with random directions of length 1 and as many known rows."""
        moves = unit > 0
        columns = known.schema.columns
        drawn = rng.normal(size=(steps + 1, probes, len(unit))) * moves
        low = np.where(moves, [c.low for c in columns], -np.inf)
        high = np.where(moves, [c.high for c in columns], np.inf)
        return cls(unit, low, high, _unit(drawn), known.X[rng.permutation(len(known))[:probes]])

    def moved(self, X: Floats, by: Floats) -> Floats:
        """Rows moved by multiples of the units, kept within the bounds."""
        return np.clip(X + by * self.unit, self.low, self.high)

    def apart(self, X: Floats, Y: Floats) -> Floats:
        """Distance in units."""
        return np.asarray(np.linalg.norm((Y - X) / np.where(self.unit > 0, self.unit, 1.0), axis=-1))


def distance(label: Labeller, X: Floats, wanted: Ints, ground: Ground) -> Floats:
    """Distance (n,) from each record to a row with another label than wanted (n,); REACH[-1] if none is found.

    Start: a probe with another label on the smallest of some spheres, else the record with the numbers of a known row.
    Then bisection finds the boundary between record and probe. T times the search estimates the normal of the boundary
    from probes around the point, steps along it, and bisects again.
    Chen, Jordan and Wainwright, HopSkipJumpAttack, S&P 2020, for many records at once.
    """
    out = np.empty(len(X))
    step = max(1, at_once(X.shape[1]) // ground.probes.shape[1])
    for at in range(0, len(X), step):
        rows = slice(at, at + step)
        out[rows] = _searched(_Search(label, X[rows], wanted[rows], ground))
    return out


def _searched(search: _Search) -> Floats:
    """Distances (n,) of one block."""
    there, found = search.start()
    out = np.full(len(found), REACH[-1])
    search = search.pick(found)
    best = search.back(there[found])
    for number in range(1, len(search.ground.probes)):
        tried = search.back(search.stride(best, number))
        nearer = search.far(tried) < search.far(best)
        best = np.where(nearer[:, None], tried, best)
    out[found] = np.minimum(search.far(best), REACH[-1])
    return out


@dataclass(frozen=True)
class _Search:
    """Records X (n, D) and the labels (n,) that the search must leave."""

    label: Labeller
    X: Floats
    wanted: Ints
    ground: Ground

    def pick(self, which: Bools | Ints) -> _Search:
        """The search for some of the records."""
        return replace(self, X=self.X[which], wanted=self.wanted[which])

    def far(self, rows: Floats) -> Floats:
        """Distance (n,) of rows (n, D) from their records."""
        return self.ground.apart(self.X, rows)

    def other(self, rows: Floats) -> Bools:
        """Whether rows (n, D) or (n, B, D) have another label than the wanted one of their record."""
        if not len(rows):
            return np.zeros(rows.shape[:-1], dtype=bool)
        labels = self.label(rows.reshape(-1, rows.shape[-1])).reshape(rows.shape[:-1])
        return np.asarray(labels != (self.wanted if labels.ndim == 1 else self.wanted[:, None]))

    def start(self) -> tuple[Floats, Bools]:
        """A row (n, D) with another label on the smallest sphere that has one, and where there is one (n,)."""
        out = self.X.copy()
        left = np.arange(len(self.X))
        for radius in (*REACH, None):
            tried = self._tried(left, radius)
            far = np.where(self.pick(left).other(tried), self.ground.apart(self.X[left, None], tried), np.inf)
            hit = np.isfinite(far).any(axis=1)
            out[left[hit]] = tried[hit, far[hit].argmin(axis=1)]
            left = left[~hit]
        return out, ~np.isin(np.arange(len(self.X)), left)

    def _tried(self, left: Ints, radius: float | None) -> Floats:
        """Rows (n, B, D) on a sphere around some of the records; without a radius, with the numbers of known rows."""
        X = self.X[left, None]
        if radius is None:
            return np.where(self.ground.unit > 0, self.ground.rows, X)
        return self.ground.moved(X, radius * self.ground.probes[0])

    def back(self, there: Floats) -> Floats:
        """The rows (n, D) nearest to the records on the segments from there that have another label, by bisection."""
        inside = self.X
        outside = there
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            other = self.other(middle)[:, None]
            inside = np.where(other, inside, middle)
            outside = np.where(other, middle, outside)
        return outside

    def stride(self, there: Floats, number: int) -> Floats:
        """A step (n, D) from the boundary into the region of the other label, halved until it ends there."""
        probes, far = self.ground.probes[number], self.far(there)
        around = self.ground.moved(there[:, None], NEAR * far[:, None, None] * probes)
        sign = np.where(self.other(around), 1.0, -1.0)
        # Not a matrix product, whose last digits depend on how many records there are.
        across = _unit(np.einsum("nb,bd->nd", sign - sign.mean(axis=1, keepdims=True), probes))
        size = far / np.sqrt(number)
        out = there.copy()
        left = np.arange(len(there))
        for _ in range(STRIDES):
            tried = self.ground.moved(there[left], size[left, None] * across[left])
            hit = self.pick(left).other(tried)
            out[left[hit]] = tried[hit]
            left = left[~hit]
            size = size / 2
        return out


def _unit(vectors: Floats) -> Floats:
    """Vectors along the last axis brought to length 1; zero stays."""
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-300))
