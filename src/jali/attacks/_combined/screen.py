"""Whether boosted trees have anything to find beyond a linear rule: loading their library takes a second or two."""

from __future__ import annotations

import numpy as np
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
    place = _cut(np.argsort(score[None], axis=1), LINK)[0]
    count = np.maximum(np.bincount(place, minlength=LINK), 1)
    likely = (np.bincount(place, truth, LINK) / count)[place]
    left = truth - likely
    variance = likely * (1 - likely)
    some = table[np.ptp(table, axis=1) > 0]
    looks = max(1, len(some) * (len(some) + 1) // 2)
    order = np.argsort(some, axis=1)
    fine = _cut(order, FINE)
    alone = [_surprise(_sums(p, left), _sums(p, variance)) for p in fine]
    if min(alone, default=1.0) < CHANCE / looks:
        return True
    parts = _cut(order, PARTS)
    cells = (parts[:, None] == np.arange(PARTS)[:, None]).reshape(-1, len(truth)).astype(np.float32)
    shape = (len(some), PARTS, len(some), PARTS)
    sums = ((cells * left.astype(np.float32)) @ cells.T).reshape(shape)
    widths = ((cells * variance.astype(np.float32)) @ cells.T).reshape(shape)
    pairs = [(a, b) for a in range(len(some)) for b in range(a)]
    return any(_surprise(sums[a, :, b], widths[a, :, b]) < CHANCE / looks for a, b in pairs)


def _cut(order: Ints, parts: int) -> Ints:
    """In which of so many equal parts each value lies (Q, n), from where the values stand in order (Q, n)."""
    out = np.empty_like(order)
    np.put_along_axis(out, order, (np.arange(order.shape[1]) * parts // order.shape[1])[None], axis=1)
    return out


def _sums(part: Ints, x: Floats) -> Floats:
    """The sums of x (n,) over the fine parts (n,) of a row."""
    return np.asarray(np.bincount(part, x, FINE), dtype=np.float64)


def _surprise(sums: Floats, variance: Floats) -> float:
    """The p-value of sums with these variances, of any shape, that they have the mean 0."""
    known = variance > FEWEST
    if known.sum() < 2:
        return 1.0
    return float(chdtrc(known.sum() - 1, (sums[known] ** 2 / variance[known]).sum()))
