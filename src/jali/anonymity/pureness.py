"""Pureness: the share of the combinations in a box that the model gives the desired class."""

from __future__ import annotations

import itertools
import operator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from jali.anonymity.frequency_table import Boxes, FrequencyTable
from jali.core.protocols import Model
from jali.core.values import Bools, Floats, Ints

CHUNK = 1 << 15  # rows in one call of the model
# The seed is fixed, so that a person is always generalised in the same way, whoever asks and however often.
STREAM = 2022


class Found(NamedTuple):
    """One box (n,) for each counterfactual, as a solver found it.

    pure (n,): pureness. loss (n,): NCP. feasible (n,): whether a box of k people was found. bound (n,): a lower
    bound on the NCP of any box that would do.
    """

    boxes: Boxes
    pure: Floats
    loss: Floats
    feasible: Bools
    bound: Floats


class Points(NamedTuple):
    """Combinations in S boxes: the box (M,) and codes (M, Q) of each; exact (S,): boxes of which all are listed."""

    box: Ints
    codes: Ints
    exact: Bools


def points(boxes: Boxes, ranged: Bools, draws: Floats) -> Points:
    """All combinations of each box that has at most m; otherwise one for each of m uniform draws (m, Q) from [0, 1).

    >>> two = Boxes(np.array([[3, 0]]), np.array([[4, 0]]), np.array([[[0, 0, 0], [1, 0, 1]]], dtype=bool))
    >>> points(two, np.array([True, False]), np.zeros((9, 2))).codes.tolist()
    [[3, 0], [4, 0], [3, 2], [4, 2]]
    """
    size = np.where(ranged, boxes.high - boxes.low + 1, boxes.allowed.sum(axis=2))
    exact = size.astype(np.float64).prod(axis=1) <= len(draws)
    many = np.where(exact, np.where(exact[:, None], size, 1).prod(axis=1), len(draws))
    box = np.repeat(np.arange(len(many)), many)
    at = np.arange(len(box)) - np.repeat(np.cumsum(many) - many, many)
    codes = np.empty((len(box), size.shape[1]), dtype=np.int64)
    rest = at.copy()
    drawn = ~exact[box]
    order = np.argsort(~boxes.allowed, axis=2, kind="stable")
    for q in range(size.shape[1]):
        mine = size[box, q]
        digit = rest % mine
        digit[drawn] = (draws[at[drawn], q] * mine[drawn]).astype(np.int64)
        codes[:, q] = boxes.low[box, q] + digit if ranged[q] else order[box, q, digit]
        rest //= mine
    return Points(box, codes, exact)


class Poll:
    """The model's classes for combinations near n counterfactuals (n, D); each combination is classified once.

    wanted (n,): the desired class of each counterfactual. The pureness of a box of more than `most` combinations is
    estimated from `most` draws.
    """

    def __init__(self, model: Model, table: FrequencyTable, rows: Floats, wanted: Ints, most: int) -> None:
        self.table = table
        self._model = model
        self._rows = rows
        self._wanted = wanted
        self._draws = np.random.default_rng(STREAM).random((most, len(table.quasi)))
        self._strides = _strides([len(rows), *map(len, table.values)])
        self._keys = np.zeros(0, dtype=np.uint64)
        self._answers = np.zeros(0, dtype=bool)

    def pureness(self, boxes: Boxes, who: Ints) -> tuple[Floats, Bools]:
        """Pureness (S,) of boxes, and where (S,) it is exact; who (S,): the counterfactual of each box."""
        some = self.points(boxes)
        good = self.good(who[some.box], some.codes)
        return np.bincount(some.box, good, len(who)) / np.bincount(some.box, minlength=len(who)), some.exact

    def points(self, boxes: Boxes) -> Points:
        """The combinations in boxes, or a sample of them."""
        return points(boxes, self.table.ranged, self._draws)

    def good(self, who: Ints, codes: Ints) -> Bools:
        """Whether counterfactuals who (M,) have the desired class if codes (M, Q) replace their quasi-identifiers."""
        keys = np.column_stack([who, codes]).astype(np.uint64) @ self._strides
        keys, first, which = np.unique(keys, return_index=True, return_inverse=True)
        new = ~np.isin(keys, self._keys, assume_unique=True)
        for some in np.split(first[new], range(CHUNK, int(new.sum()), CHUNK)):
            new_answers = self._ask(who[some], codes[some]) if len(some) else self._answers[:0]
            self._answers = np.r_[self._answers, new_answers]
        self._keys = np.r_[self._keys, keys[new]]
        order = np.argsort(self._keys)
        self._keys = self._keys[order]
        self._answers = self._answers[order]
        return np.asarray(self._answers[np.searchsorted(self._keys, keys)][which])

    def rows(self, who: Ints, codes: Ints) -> Floats:
        """Counterfactuals who (M,) with codes (M, Q) instead of their quasi-identifiers, as raw rows (M, D)."""
        rows: Floats = self._rows[who]
        for q, (j, known) in enumerate(zip(self.table.quasi, self.table.values, strict=True)):
            rows[:, j] = known[codes[:, q]]
        return rows

    def _ask(self, who: Ints, codes: Ints) -> Bools:
        """The same as `good`, by a call of the model."""
        return np.asarray(self._model.logits(self.rows(who, codes)).argmax(axis=1) == self._wanted[who])


def _strides(sizes: list[int]) -> npt.NDArray[np.uint64]:
    """Factors that turn codes into one number: place values if 64 bits suffice, otherwise random factors (a hash)."""
    places = list(itertools.accumulate([1, *sizes[:-1]], operator.mul))
    if places[-1] * sizes[-1] < 2**64:
        return np.array(places, dtype=np.uint64)
    return np.random.default_rng(STREAM).integers(1, 2**64, len(sizes), dtype=np.uint64) | np.uint64(1)
