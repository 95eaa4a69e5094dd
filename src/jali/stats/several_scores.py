"""AUCs of several scores of the same guesses, from one sort of all of them."""

from __future__ import annotations

import numpy as np

from jali.core.values import Bools, Floats

LAST = np.uint64(1)  # the last bit of a number


def aucs(scores: Floats, truth: Bools) -> Floats:
    """`roc.auc` of several scores (F, G), from the mean ranks of members: (sum of ranks - m (m + 1) / 2) / (m n).

    >>> aucs(np.array([[3.0, 2.0, 2.0, 1.0], [1.0, 1.0, 1.0, 1.0]]), np.array([True, True, False, False]))
    array([0.875, 0.5  ])
    """
    members = int(np.count_nonzero(truth))
    member, unsure = by_rank(scores, truth)
    ranks = member @ np.arange(1.0, len(truth) + 1)
    for row in np.flatnonzero(unsure):
        order = np.argsort(scores[row])
        ranks[row] = _mean_ranks(scores[row, order], truth[order])
    return np.asarray((ranks - members * (members + 1) / 2) / (members * (len(truth) - members)))


def by_rank(scores: Floats, truth: Bools) -> tuple[Bools, Bools]:
    """Membership (F, G) from the lowest score up, and the rows of scores (F,) in which the order is not known.

    Membership takes the place of the last bit of a score, so that nothing is looked up after sorting. The order is not
    known where scores are equal, or differ in that bit alone, or are infinite.

    >>> by_rank(np.array([[3.0, 2.0, 1.0], [1.0, 1.0, 2.0]]), np.array([True, False, True]))[0][0]
    array([ True, False,  True])
    """
    bits = np.ascontiguousarray(scores).view(np.uint64) & ~LAST
    ranked = bits.view(np.float64)
    ranked += 0.0  # -0.0 becomes 0.0
    bits |= truth
    ranked.sort(axis=1)
    infinite = ~np.isfinite(ranked[:, [0, -1]]).all(axis=1)
    member = (bits & LAST).astype(bool)
    bits >>= LAST
    return member, np.asarray(infinite | (bits[:, 1:] == bits[:, :-1]).any(axis=1))


def _mean_ranks(ranked: Floats, truth: Bools) -> float:
    """The sum of the ranks of members from the lowest score up; equal scores share the mean of theirs."""
    start = np.append(0, np.flatnonzero(ranked[1:] != ranked[:-1]) + 1)
    size = np.diff(np.append(start, len(ranked)))
    mean = start + (size + 1) / 2
    return float(np.repeat(mean, size)[truth].sum())
