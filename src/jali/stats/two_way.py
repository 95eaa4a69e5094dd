"""A table of records and models without what is usual for the record and for the model, by medians (Tukey 1977)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.core.values import Bools, Floats, Ints

APART = 0.45  # models differ where their middles deviate by so many median distances
BY_CHANCE = 3.0  # and by so many times as much as by the noise of the records


@dataclass(frozen=True)
class TwoWay:
    """What is left of values (n, M) in the cells used, by model its middle (M,), and its median distance (M,) from it.

    >>> found = TwoWay.of(np.array([[1.0, 2.0, 13.0], [3.0, 5.0, 13.0], [4.0, 5.0, 14.0]]), np.ones((3, 3), bool))
    >>> found.middle, found.distance, found.rest.tolist()
    (array([-1.,  0.,  9.]), array([0., 0., 0.]), [[0.0, 0.0, 2.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    """

    rest: Floats
    middle: Floats
    distance: Floats

    @staticmethod
    def of(value: Floats, use: Bools) -> TwoWay:
        """Middles are taken off twice: where models lie far apart, a record's first one is the answer of one model."""
        rest = value - median(value, use, 1)
        first = median(rest, use, 0)
        rest = rest - first
        rest = rest - median(rest, use, 1)
        second = median(rest, use, 0)
        rest = rest - second
        return TwoWay(rest, (first + second)[0], median(np.abs(rest), use, 0)[0])

    def apart(self, records: float) -> bool:
        """Whether models that answered about so many records differ beyond the noise of these, and enough to count."""
        # The median of n normal numbers has 1.25 deviations by sqrt(n), and a deviation is 1.48 median distances.
        chance = 1.25 * 1.48 / np.sqrt(records)
        # A power of two changes no digit, and squares of large numbers would overflow.
        _, exponent = np.frexp(np.abs(self.middle).max())
        deviation = np.ldexp(self.middle, -exponent).std()
        return bool(deviation > max(APART, BY_CHANCE * chance) * np.ldexp(np.median(self.distance), -exponent))


def answering(use: Bools, models: int, records: int) -> tuple[Ints, Ints]:
    """The records (n,) about which so many models answered, and the models (m,) that answered about so many of these.

    A model with fewer answers tells nothing about the others, and takes nothing from what these tell.

    >>> answering(np.array([[True, True, True], [True, True, False], [False, False, True]]), 2, 2)
    (array([0, 1]), array([0, 1]))
    """
    rows, columns = np.arange(use.shape[0]), np.arange(use.shape[1])
    while True:
        kept = rows[use[np.ix_(rows, columns)].sum(axis=1) >= models]
        left = columns[use[np.ix_(kept, columns)].sum(axis=0) >= records]
        if len(kept) == len(rows) and len(left) == len(columns):
            return rows, columns
        rows, columns = kept, left


def median(x: Floats, use: Bools, axis: int) -> Floats:
    """The median of the cells used along one axis, which each have some; the axis stays, with length 1.

    >>> median(np.array([[3.0, 1.0, 2.0], [4.0, 9.0, 6.0]]), np.array([[True] * 3, [True, False, True]]), 1)
    array([[2.],
           [5.]])
    """
    if axis == 0:
        return np.asarray(np.median(x, axis=0, keepdims=True)) if use.all() else median(x.T, use.T, 1).T
    # Sorting all rows is several times as fast as looking for the middle of each.
    ranked = np.sort(np.ascontiguousarray(x if use.all() else np.where(use, x, np.inf)), axis=1)
    many = use.sum(axis=1)
    rows = np.arange(len(x))
    return np.asarray((ranked[rows, (many - 1) // 2] + ranked[rows, many // 2]) / 2)[:, None]
