"""AUCs of several scores of the same guesses, all of them sorted at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from jali.core.values import Bools, Floats

SIGN = np.uint64(1 << 63)
ONE = np.uint64(1)
NUMBERS = 50_000  # that are sorted together: as many as fit in a cache


def aucs(scores: Floats, truth: Bools) -> Floats:
    """`roc.auc` of several scores (F, G), from the ranks of members: (sum of ranks - m (m + 1) / 2) / (m n).

    >>> aucs(np.array([[3.0, 2.0, 2.0, 1.0], [1.0, 1.0, 1.0, 1.0]]), np.array([True, True, False, False]))
    array([0.875, 0.5  ])
    """
    step = max(1, NUMBERS // max(1, len(truth)))
    parts = [_aucs(scores[start : start + step], truth) for start in range(0, len(scores), step)]
    return np.concatenate(parts) if parts else np.empty(0)


def _aucs(scores: Floats, truth: Bools) -> Floats:
    """`aucs` of a few scores."""
    members = int(np.count_nonzero(truth))
    member, ranked = by_rank(scores, truth)
    above = member @ np.arange(1.0, len(truth) + 1) - members * (members + 1) / 2
    for row in np.flatnonzero((ranked[:, 1:] == ranked[:, :-1]).any(axis=1)):
        above[row] = _above(ranked[row], member[row])
    for row in np.flatnonzero(~np.isfinite(scores).all(axis=1)):
        order = np.argsort(scores[row])
        above[row] = _above(scores[row, order], truth[order])
    return np.asarray(above / (members * (len(truth) - members)))


def by_rank(scores: Floats, truth: Bools) -> tuple[Bools, npt.NDArray[np.uint64]]:
    """Membership (F, G) from the lowest finite score up, and numbers (F, G) that are equal where scores are.

    A score below 1 in size leaves one bit of a number free. Membership is put there, so that nothing is looked up after
    sorting, which would take half as long again. Scores 10^300 times smaller than the largest count as 0.

    >>> by_rank(np.array([[3.0, 2.0, 1.0]]), np.array([True, False, False]))[0]
    array([[False, False,  True]])
    """
    largest = np.abs(scores).max(axis=1, keepdims=True)
    # Powers of two change no digit.
    small = scores * np.ldexp(1.0, -np.maximum(np.frexp(largest)[1], 0))
    small += 0.0  # -0.0 becomes 0.0
    bits = small.view(np.uint64)
    sign = bits & SIGN
    bits <<= ONE
    bits |= sign
    bits |= truth
    small.sort(axis=1)
    member = (bits & ONE).astype(bool)
    bits &= ~ONE
    return member, bits


def _above(ranked: npt.NDArray[Any], truth: Bools) -> float:
    """How many others members are above, in all, ties counted half, from the lowest score up."""
    ends = np.flatnonzero(ranked[1:] != ranked[:-1]) + 1
    steps = np.zeros((2, len(ends) + 2), dtype=np.int64)
    steps[:, 1:-1] = ends, np.cumsum(truth)[ends - 1]
    steps[:, -1] = len(truth), np.count_nonzero(truth)
    both, inside = steps
    outside = both - inside
    return float((inside[1:] - inside[:-1]) @ (outside[1:] + outside[:-1])) / 2
