"""How far records are from another label, by asking for labels alone; many records at once.

n records, B probes, D columns. Numbers move in units (D,) of the adversary's choice; a column with unit 0 stays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from jali.core.values import Bools, Dataset, Floats, Ints, Rng
from jali.query_attacks._perturb import at_once
from jali.query_attacks._shadow import Ask

REACH = 0.125 * 2.0 ** np.arange(10)  # radii tried for a start, in units; who has no other label there is at the last
HALVINGS, STRIDES = 12, 5  # of the way that crosses the boundary; of a step that ends in the wanted label
NEAR = 0.1  # probes around a point of the boundary lie within this share of its distance


@dataclass(frozen=True)
class Ground:
    """The space of a search: unit, low and high (D,), directions (T + 1, B, D) for the start and T steps, rows (A, D).

    All records are probed in the same directions, so that none depends on the others or on their order.
    """

    unit: Floats
    low: Floats
    high: Floats
    probes: Floats
    rows: Floats

    @classmethod
    def of(cls, known: Dataset, unit: Floats, steps: int, probes: int, rng: Rng) -> Ground:
        """The ground of a table, with random directions of length 1 and as many known rows."""
        moves, columns = unit > 0, known.schema.columns
        drawn = rng.normal(size=(steps + 1, probes, len(unit))) * moves
        low = np.where(moves, [c.low for c in columns], -np.inf)
        high = np.where(moves, [c.high for c in columns], np.inf)
        return cls(unit, low, high, _unit(drawn), known.X[rng.permutation(len(known))[:probes]])

    def moved(self, X: Floats, by: Floats) -> Floats:
        """Rows moved by so many units, kept within the bounds."""
        return np.clip(X + by * self.unit, self.low, self.high)

    def apart(self, X: Floats, Y: Floats) -> Floats:
        """Distance in units."""
        return np.asarray(np.linalg.norm((Y - X) / np.where(self.unit > 0, self.unit, 1.0), axis=-1))


def distance(ask: Ask, X: Floats, wanted: Ints, ground: Ground) -> Floats:
    """Distance (n,) from each record to a row with another label than wanted (n,); REACH[-1] if none is found.

    Start: the smallest of some spheres on which a probe has another label, else the nearest row of the ground whose
    numbers lead there. Then the boundary on the way back is found by halving, and T times the search walks across the
    boundary, as probes around the point show it, and comes back.
    Chen, Jordan and Wainwright, HopSkipJumpAttack, S&P 2020, for many records at once.
    """
    out, step = np.empty(len(X)), max(1, at_once(X.shape[1]) // ground.probes.shape[1])
    for at in range(0, len(X), step):
        rows = slice(at, at + step)
        out[rows] = _searched(_Search(ask, X[rows], wanted[rows], ground))
    return out


def _searched(search: _Search) -> Floats:
    """Distances (n,) of one block."""
    there, found = search.start()
    out = np.full(len(found), REACH[-1])
    search, best = search.pick(found), there[found]
    best = search.back(best)
    for number in range(1, len(search.ground.probes)):
        tried = search.back(search.stride(best, number))
        nearer = search.far(tried) < search.far(best)
        best = np.where(nearer[:, None], tried, best)
    out[found] = np.minimum(search.far(best), REACH[-1])
    return out


@dataclass(frozen=True)
class _Search:
    """Records X (n, D) and the labels (n,) that a search leads away from."""

    ask: Ask
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
        told = self.ask(rows.reshape(-1, rows.shape[-1])).reshape(rows.shape[:-1])
        return np.asarray(told != (self.wanted if told.ndim == 1 else self.wanted[:, None]))

    def start(self) -> tuple[Floats, Bools]:
        """A row (n, D) with another label on the smallest sphere that has one, and where there is one (n,)."""
        out, left = self.X.copy(), np.arange(len(self.X))
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
        """The rows (n, D) nearest to the records on the way back from there that have another label still."""
        inside, outside = self.X, there
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            other = self.other(middle)[:, None]
            inside, outside = np.where(other, inside, middle), np.where(other, middle, outside)
        return outside

    def stride(self, there: Floats, number: int) -> Floats:
        """A step (n, D) from the boundary into the other label, shorter the later and until it ends there."""
        probes, far = self.ground.probes[number], self.far(there)
        around = self.ground.moved(there[:, None], NEAR * far[:, None, None] * probes)
        sign = np.where(self.other(around), 1.0, -1.0)
        # Not a matrix product, whose last digits depend on how many records there are.
        across = _unit(np.einsum("nb,bd->nd", sign - sign.mean(axis=1, keepdims=True), probes))
        size, out, left = far / np.sqrt(number), there.copy(), np.arange(len(there))
        for _ in range(STRIDES):
            tried = self.ground.moved(there[left], size[left, None] * across[left])
            hit = self.pick(left).other(tried)
            out[left[hit]] = tried[hit]
            left, size = left[~hit], size / 2
        return out


def _unit(vectors: Floats) -> Floats:
    """Vectors along the last axis brought to length 1; zero stays."""
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-300))
