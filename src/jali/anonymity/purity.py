"""What a model says of the combinations in a box around a counterfactual."""

from __future__ import annotations

import itertools
import operator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from jali.anonymity.people import Boxes, Crowd
from jali.core.protocols import Model
from jali.core.values import Bools, Floats, Ints

CHUNK = 1 << 15  # rows in one call of the model
STREAM = (
    2022  # of draws: the same for everybody, so that a person is generalised in one way, whoever asks, however often
)


class Found(NamedTuple):
    """Boxes of n counterfactuals, each with its pureness, NCP, whether there is one, and a bound on the NCP of any."""

    boxes: Boxes
    pure: Floats
    loss: Floats
    there: Bools
    bound: Floats


class Points(NamedTuple):
    """Combinations of S boxes: the box (M,) and codes (M, Q) of each; all there are where exact (S,), else drawn."""

    box: Ints
    codes: Ints
    exact: Bools


def points(boxes: Boxes, ranged: Bools, draws: Floats) -> Points:
    """All combinations of boxes that have no more than there are draws (m, Q) from [0, 1), else one for each draw.

    >>> two = Boxes(np.array([[3, 0]]), np.array([[4, 0]]), np.array([[[0, 0, 0], [1, 0, 1]]], dtype=bool))
    >>> points(two, np.array([True, False]), np.zeros((9, 2))).codes.tolist()
    [[3, 0], [4, 0], [3, 2], [4, 2]]
    """
    size = np.where(ranged, boxes.high - boxes.low + 1, boxes.allowed.sum(axis=2))
    exact = size.astype(np.float64).prod(axis=1) <= len(draws)
    many = np.where(exact, np.where(exact[:, None], size, 1).prod(axis=1), len(draws))
    box = np.repeat(np.arange(len(many)), many)
    at = np.arange(len(box)) - np.repeat(np.cumsum(many) - many, many)
    codes, rest, drawn = np.empty((len(box), size.shape[1]), dtype=np.int64), at.copy(), ~exact[box]
    order = np.argsort(~boxes.allowed, axis=2, kind="stable")
    for q in range(size.shape[1]):
        mine = size[box, q]
        digit = rest % mine
        digit[drawn] = (draws[at[drawn], q] * mine[drawn]).astype(np.int64)
        codes[:, q] = boxes.low[box, q] + digit if ranged[q] else order[box, q, digit]
        rest //= mine
    return Points(box, codes, exact)


class Poll:
    """What a model says of rows around n counterfactuals (n, D), each row asked about once.

    wanted (n,): the class that each counterfactual promises. Boxes of more than `most` combinations are judged by as
    many draws.
    """

    def __init__(self, model: Model, crowd: Crowd, rows: Floats, wanted: Ints, most: int) -> None:
        self.crowd, self._model, self._rows, self._wanted = crowd, model, rows, wanted
        self._draws = np.random.default_rng(STREAM).random((most, len(crowd.quasi)))
        self._strides = _strides([len(rows), *map(len, crowd.values)])
        self._keys, self._said = np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=bool)

    def pureness(self, boxes: Boxes, who: Ints) -> tuple[Floats, Bools]:
        """Share (S,) of the combinations in boxes of counterfactuals who (S,) that keep the promise, where exact."""
        some = self.points(boxes)
        good = self.good(who[some.box], some.codes)
        return np.bincount(some.box, good, len(who)) / np.bincount(some.box, minlength=len(who)), some.exact

    def points(self, boxes: Boxes) -> Points:
        """The combinations of boxes, or some of them."""
        return points(boxes, self.crowd.ranged, self._draws)

    def good(self, who: Ints, codes: Ints) -> Bools:
        """Whether combinations (M, Q) in the place of those of counterfactuals who (M,) have the class promised."""
        keys = np.column_stack([who, codes]).astype(np.uint64) @ self._strides
        keys, first, which = np.unique(keys, return_index=True, return_inverse=True)
        new = ~np.isin(keys, self._keys, assume_unique=True)
        for some in np.split(first[new], range(CHUNK, int(new.sum()), CHUNK)):
            self._said = np.r_[self._said, self._ask(who[some], codes[some]) if len(some) else self._said[:0]]
        self._keys = np.r_[self._keys, keys[new]]
        order = np.argsort(self._keys)
        self._keys, self._said = self._keys[order], self._said[order]
        return np.asarray(self._said[np.searchsorted(self._keys, keys)][which])

    def _ask(self, who: Ints, codes: Ints) -> Bools:
        rows = self._rows[who]
        for q, (j, known) in enumerate(zip(self.crowd.quasi, self.crowd.values, strict=True)):
            rows[:, j] = known[codes[:, q]]
        return np.asarray(self._model.logits(rows).argmax(axis=1) == self._wanted[who])


def _strides(sizes: list[int]) -> npt.NDArray[np.uint64]:
    """Factors that make one number of codes: places where 64 bits are enough, else factors that hash them."""
    places = list(itertools.accumulate([1, *sizes[:-1]], operator.mul))
    if places[-1] * sizes[-1] < 2**64:
        return np.array(places, dtype=np.uint64)
    return np.random.default_rng(STREAM).integers(1, 2**64, len(sizes), dtype=np.uint64) | np.uint64(1)
