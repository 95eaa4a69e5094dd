"""Whether boosted trees have anything to find beyond a linear rule: loading their library takes a second or two."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc

from jali.core.values import Bools, Floats, Ints

CHANCE = 0.05  # probability that trees are tried where there is nothing, over all looks
LINK = 100  # parts of the scores in each of which a linear rule is taken to say the same
PARTS = 3  # of a row of the table where two of them are looked at together
FINE = 8  # where one is looked at alone
FEWEST = 1.0  # expected variance of the sum of a cell from which on it counts


def more_than_linear(table: Floats, truth: Bools, score: Floats) -> bool:
    """Whether one row or two rows of a table (Q, n) tell members (n,) beyond a score (n,), by Pearson's statistic.

    What is left is membership less its mean among cells of about the same score, so any rising function of the score
    is allowed for. Rows are cut at their quantiles. Without anything more than the score its sums over the cells of a
    cut are normal with mean 0; their squares are compared with chi-squared, divided by the number of looks.
    """
    place = _in_order(score, LINK)
    count = np.maximum(np.bincount(place, minlength=LINK), 1)
    likely = (np.bincount(place, truth, LINK) / count)[place]
    left = truth - likely
    variance = likely * (1 - likely)
    some = table[np.ptp(table, axis=1) > 0]
    looks = max(1, len(some) * (len(some) + 1) // 2)
    # The values that begin a part are all that is needed of the order, to as many digits as tell them from the next. To
    # sort all of them is faster than to look for these.
    with np.errstate(over="ignore"):
        short = some.astype(np.float32)
    starts = np.concatenate([_starts(len(truth), FINE), _starts(len(truth), PARTS)])
    firsts = np.sort(short, axis=1)[:, starts]
    for row, rough, first in zip(some, short, firsts, strict=True):
        part = _cut(row, rough, first[: FINE - 1], FINE)
        if _surprise(_sums(part, left), _sums(part, variance)) < CHANCE / looks:
            return True
    cells = np.empty((len(some) * PARTS, len(truth)), dtype=np.float32)
    for k, (row, rough, first) in enumerate(zip(some, short, firsts, strict=True)):
        part = _cut(row, rough, first[FINE - 1 :], PARTS)
        cells[k * PARTS : (k + 1) * PARTS] = part == np.arange(PARTS)[:, None]
    sums = _of_pairs((cells * left.astype(np.float32)) @ cells.T)
    widths = _of_pairs((cells * variance.astype(np.float32)) @ cells.T)
    return bool((_surprise(sums, widths) < CHANCE / looks).any())


def _of_pairs(sums: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.floating[Any]]:
    """Sums over the cells of each two rows (pairs, cells), from those of all parts of rows with each other."""
    rows = len(sums) // PARTS
    one, other = np.tril_indices(rows, -1)
    return sums.reshape(rows, PARTS, rows, PARTS)[one, :, other].reshape(len(one), PARTS**2)


def _sums(part: Ints, x: Floats) -> Floats:
    """The sums of x (n,) over the fine parts (n,) of a row."""
    return np.asarray(np.bincount(part, x, FINE), dtype=np.float64)


def _starts(n: int, parts: int) -> Ints:
    """Where each of so many equal parts of n ordered values begins, but the first."""
    return -(-np.arange(1, parts) * n // parts)


def _in_order(value: Floats, parts: int) -> Ints:
    """In which of so many equal parts each value (n,) lies, by its place in order."""
    out = np.empty(len(value), dtype=np.int64)
    out[np.argsort(value)] = np.arange(len(value)) * parts // len(value)
    return out


def _cut(value: Floats, rough: npt.NDArray[np.float32], firsts: npt.NDArray[np.float32], parts: int) -> Ints:
    """The same, from rounded values (n,) and those of them that begin the parts.

    Rounding keeps the order. Where values around a beginning are the same, rounded, the places of the values decide.

    >>> value = np.array([0.3, 0.1, 0.4, 0.2])
    >>> rough = value.astype(np.float32)
    >>> _cut(value, rough, rough[:1], 2)
    array([1, 0, 1, 0])
    """
    out = np.zeros(len(value), dtype=np.uint8)
    for start, first in zip(_starts(len(value), parts), firsts, strict=True):
        above = rough >= first
        if np.count_nonzero(above) != len(value) - start:
            return _in_order(value, parts)
        out += above
    return out.astype(np.intp)


def _surprise(sums: npt.NDArray[np.floating[Any]], variance: npt.NDArray[np.floating[Any]]) -> Floats:
    """The p-values of sums (..., cells) with these variances, that they have the mean 0."""
    known = variance > FEWEST
    count = known.sum(axis=-1)
    squares = np.where(known, sums**2 / np.where(known, variance, 1.0), 0.0).sum(axis=-1)
    return np.where(count < 2, 1.0, chdtrc(np.maximum(count - 1, 1), squares))
