"""Per-record sums over the shadow models of both sides, from which any one model can be left out at no cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.core.values import Bools, Floats, Ints


@dataclass(frozen=True)
class Side:
    """The shadow models that trained on a record, or did not: count (N,), mean (F, N), variance (F, N)."""

    count: Floats
    mean: Floats
    variance: Floats

    def pick(self, features: Bools | Ints) -> Side:
        """The chosen features."""
        return Side(self.count, self.mean[features], self.variance[features])

    def moved(self, by: Floats) -> Side:
        """The same with means (F, N) moved by so much, where there are any."""
        return Side(self.count, np.where(self.count > 0, self.mean + by, 0.0), self.variance)

    @property
    def pooled(self) -> Floats:
        """Mean within-record variance (F, 1) of the records with two models or more; 0 where there are none."""
        known = self.count >= 2
        if not known.any():
            return np.zeros((len(self.mean), 1))
        return np.asarray(self.variance[:, known].mean(axis=1, keepdims=True))


@dataclass(frozen=True)
class Sums:
    """Features (F, N, K) of the shadow models, less each record's mean, with their sums over each side.

    centre (F, N): the mean that was subtracted, so that differences of sums lose no digits. use (N, K): the cells in
    which all features were observed.
    """

    rest: Floats
    centre: Floats
    use: Bools
    member: Bools
    total: Floats  # (2, F, N): sums over out-models, in-models
    square: Floats  # (2, F, N)
    count: Floats  # (2, N)

    @staticmethod
    def of(value: Floats, use: Bools, member: Bools) -> Sums:
        """The sums of features (F, N, K) over the cells used (N, K)."""
        cells = np.maximum(use.sum(axis=1), 1)
        centre = np.where(use, value, 0.0).sum(axis=2) / cells
        rest = np.where(use, value - centre[:, :, None], 0.0)
        sides = np.stack([use & ~member, use & member]).astype(np.float64)
        total = np.stack([np.einsum("fnk,nk->fn", rest, side) for side in sides])
        square = np.stack([np.einsum("fnk,fnk,nk->fn", rest, rest, side) for side in sides])
        return Sums(rest, centre, use, member, total, square, sides.sum(axis=2))

    def pick(self, features: Ints) -> Sums:
        """The chosen features."""
        some = (self.rest[features], self.centre[features], self.use, self.member)
        return Sums(*some, self.total[:, features], self.square[:, features], self.count)

    def sides(self, without: int | None = None) -> tuple[Side, Side]:
        """Out- and in-models of each record, with one shadow model left out if its position is given."""
        return self._side(0, without), self._side(1, without)

    def value(self, column: int) -> Floats:
        """The features (F, N) of one shadow model, less each record's mean."""
        return np.asarray(self.rest[:, :, column])

    def _side(self, inside: int, without: int | None) -> Side:
        count, total, square = self.count[inside], self.total[inside], self.square[inside]
        if without is not None:
            mine = self.use[:, without] & (self.member[:, without] == bool(inside))
            cell = self.rest[:, :, without] * mine
            count, total, square = count - mine, total - cell, square - cell**2
        mean = total / np.maximum(count, 1)
        variance = np.maximum(square - count * mean**2, 0.0) / np.maximum(count - 1, 1)
        return Side(count, mean, variance)
