"""Per-record sums over sets of shadow models: each target, and each shadow model that is judged, has a set of its own.

The sums of all sets come from one matrix product. A model outside a set is multiplied by zero, not subtracted again, so
that neither its values nor its membership leave a trace in the last digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jali.core.values import Bools, Floats, Ints

EVERY = slice(None)
Read = Callable[[slice], tuple[Floats, Floats]]
BLOCK = 120_000  # cells (features x records x models) at a time: as many as fit in a cache


@dataclass(frozen=True)
class Side:
    """The shadow models that trained on a record, or did not: count (N,), mean (F, N), variance (F, N)."""

    count: Floats
    mean: Floats
    variance: Floats

    def pick(self, features: Bools | Ints | slice) -> Side:
        """The chosen features."""
        return Side(self.count, self.mean[features], self.variance[features])

    def moved(self, by: Floats) -> Side:
        """The same with means (F, N) moved by so much, where there are any."""
        return Side(self.count, np.where(self.count > 0, self.mean + by, 0.0), self.variance)

    @cached_property
    def pooled(self) -> Floats:
        """Mean within-record variance (F, 1) of the records with two models or more; 0 where there are none."""
        known = self.count >= 2
        if not known.any():
            return np.zeros((len(self.mean), 1))
        variance = self.variance if known.all() else self.variance[:, known]
        return np.asarray(variance.mean(axis=1, keepdims=True))


@dataclass(frozen=True)
class Sums:
    """Sums over the shadow models of each of T sets, out-models first: count (2, T, N), total, square (2, T, F, N).

    level (F, N): what was subtracted from the features of each record, so that differences of sums lose no digits.
    """

    level: Floats
    count: Floats
    total: Floats
    square: Floats

    @staticmethod
    def of(read: Read, features: int, use: Bools, member: Bools, sets: Bools) -> Sums:
        """The sums of features over the cells used (N, K), for sets of models (T, K), block of records by block.

        read: for some records, features (F, n, K) less a level of each record, 0 where a cell is not used, and that
        level (F, n).
        """
        records, models = use.shape
        size = (2, len(sets), features, records)
        out = Sums(np.empty(size[2:]), np.empty((2, len(sets), records)), np.empty(size), np.empty(size))
        weight = sets.astype(np.float64)
        step = max(1, BLOCK // max(1, features * models))
        for start in range(0, records, step):
            rows = slice(start, start + step)
            rest, out.level[:, rows] = read(rows)
            out._fill(rows, rest, use[rows], member[rows], weight)
        return out

    def _fill(self, rows: slice, rest: Floats, use: Bools, member: Bools, weight: Floats) -> None:
        """Enter the sums of some records; weight (T, K) is 1 for the models of a set."""
        features, records, models = rest.shape
        shape = (len(weight), features, records)
        kept = np.empty_like(rest)
        for inside in (0, 1):
            mine = (use & (member == bool(inside))).astype(np.float64)
            np.multiply(rest, mine, out=kept)
            self.count[inside, :, rows] = weight @ mine.T
            self.total[inside, :, :, rows] = (weight @ kept.reshape(-1, models).T).reshape(shape)
            kept *= rest
            self.square[inside, :, :, rows] = (weight @ kept.reshape(-1, models).T).reshape(shape)

    def sides(self, t: int = 0, features: Ints | slice = EVERY) -> tuple[Side, Side]:
        """Out- and in-models of each record in one set, for some features."""
        return self._side(0, t, features), self._side(1, t, features)

    def _side(self, inside: int, t: int, features: Ints | slice) -> Side:
        count = self.count[inside, t]
        mean = self.total[inside, t, features] / np.maximum(count, 1)
        variance = mean**2
        variance *= count
        np.subtract(self.square[inside, t, features], variance, out=variance)
        np.maximum(variance, 0.0, out=variance)
        variance /= np.maximum(count - 1, 1)
        return Side(count, mean, variance)


def levels(value: Floats, use: Bools) -> Floats:
    """The mean (F, N) of features (F, N, K) over the cells used (N, K), exact where all are equal; 0 where none is.

    It is the first value plus the mean difference to it: a plain mean of equal numbers may differ from them in the last
    digit, and what is left would be ranked like a signal.
    """
    first = value[:, np.arange(value.shape[1]), use.argmax(axis=1)]
    cells = use.sum(axis=1)
    away = np.einsum("fnk,nk->fn", value - first[:, :, None], use.astype(np.float64)) / np.maximum(cells, 1)
    return np.where(cells > 0, first + away, 0.0)
