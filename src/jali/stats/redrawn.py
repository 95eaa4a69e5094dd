"""Balanced accuracy of many redrawn sets of guesses at once, from counts at each distinct score.

`roc.crossed_accuracy` of each set by itself gives the same bits and takes some twenty times as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jali.core.values import Floats, Ints, Rng

CELLS = 2_000_000  # counts that are held at once for each kind of guess


@dataclass(frozen=True)
class Half:
    """Rows of members and of others (B, n) in one half of each of B sets."""

    members: Ints
    others: Ints

    def pick(self, some: slice) -> Half:
        """Some of the sets."""
        return Half(self.members[some], self.others[some])


def redraw(strata: Sequence[Ints], draws: int, rng: Rng) -> list[Ints]:
    """Rows (B, n) of each stratum (n,), drawn with replacement: set by set, and stratum by stratum in each."""
    out = [np.empty((draws, len(rows)), dtype=np.int64) for rows in strata]
    for b in range(draws):
        for rows, drawn in zip(strata, out, strict=True):
            drawn[b] = rows[rng.integers(len(rows), size=len(rows))]
    return out


def crossed_accuracies(score: Floats, one: Half, other: Half) -> Floats:
    """Balanced accuracy (B,) of each half at the threshold that is best on the other one, averaged.

    >>> half = Half(np.array([[0]]), np.array([[2]])), Half(np.array([[1]]), np.array([[3]]))
    >>> crossed_accuracies(np.array([5.0, 4.0, 2.0, 1.0]), *half)
    array([1.])
    """
    values, rank = np.unique(score, return_inverse=True)
    step = max(1, CELLS // len(values))
    parts = [slice(start, start + step) for start in range(0, len(one.members), step)]
    return np.concatenate([_crossed(values, rank, one.pick(part), other.pick(part)) for part in parts])


def _crossed(values: Floats, rank: Ints, one: Half, other: Half) -> Floats:
    first = _counts(rank, one.members, len(values)), _counts(rank, one.others, len(values))
    second = _counts(rank, other.members, len(values)), _counts(rank, other.others, len(values))
    return (_at_best_of(values, *first, *second) + _at_best_of(values, *second, *first)) / 2


def _counts(rank: Ints, rows: Ints, size: int) -> Ints:
    """How many rows (B, n) have each distinct score or a higher one (B, V), from the highest down."""
    place = size - 1 - rank[rows] + size * np.arange(len(rows))[:, None]
    return np.bincount(place.ravel(), minlength=size * len(rows)).reshape(len(rows), size).cumsum(axis=1)


def _at_best_of(values: Floats, tp: Ints, fp: Ints, members: Ints, others: Ints) -> Floats:
    """Balanced accuracy (B,) outside a half at the threshold that is best inside it, from counts (B, V) of both.

    values (V,) rise and are finite, and counts are cumulated from the highest value down.
    """
    sets = np.arange(len(tp))
    size = len(values)
    falling = np.append(values[::-1], np.nan)
    gain = tp / tp[:, -1:] - fp / fp[:, -1:]
    best = gain.argmax(axis=1)
    nobody = gain[sets, best] <= 0  # then no threshold is better than one that flags nobody
    drawn = tp + fp
    so_far = np.where(nobody, 0, drawn[sets, best])
    last = np.count_nonzero(drawn <= so_far[:, None], axis=1)  # the next lower score that was drawn
    cut = np.where(nobody, np.inf, falling[best])
    after = np.where(last < size, falling[last], cut)
    threshold = (cut + after) / 2
    below = np.where(
        threshold == after, np.searchsorted(values, threshold, "right"), np.searchsorted(values, threshold, "left")
    )
    hits = _flagged(members, size - below)
    alarms = _flagged(others, size - below)
    found = members[:, -1]
    rest = others[:, -1]
    return np.asarray((hits / found + (rest - alarms) / rest) / 2)


def _flagged(counts: Ints, first: Ints) -> Ints:
    """How many of each set are among the first so many (B,) distinct scores, from cumulated counts (B, V)."""
    return np.where(first > 0, counts[np.arange(len(counts)), np.maximum(first - 1, 0)], 0)
