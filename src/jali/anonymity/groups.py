"""Groups of at least k people who are alike, cut from a set of people once and for all.

The people are cut in two at the column in which they differ most, and both parts are cut again, as long as each part
keeps k people (LeFevre, DeWitt and Ramakrishnan, Mondrian, ICDE 2006). Who asks plays no part, so everybody is shown a
group of the same list, and no group can be narrowed by asking again.
"""

from __future__ import annotations

import numpy as np

from jali.core.values import Bools, Floats, Ints


def partition(codes: Ints, sizes: Ints, ranged: Bools, k: int) -> list[Ints]:
    """Positions of the people in each group; codes (m, Q): the cell of each person in each column.

    sizes (Q,): how many cells a column has. ranged (Q,): whether its cells are in order, as those of numbers are.
    Fewer than k people are no group.

    >>> groups = partition(np.array([[0], [0], [1], [5], [5]]), np.array([6]), np.array([True]), 2)
    >>> [group.tolist() for group in groups]
    [[0, 1], [2, 3, 4]]
    """
    if len(codes) < k:
        return []
    out = []
    todo = [np.arange(len(codes))]
    while todo:
        who = todo.pop()
        left = _cut(codes[who], sizes, ranged, k)
        if left is None:
            out.append(who)
        else:
            todo += [who[~left], who[left]]
    return out


def _cut(codes: Ints, sizes: Ints, ranged: Bools, k: int) -> Bools | None:
    """Who goes to the first part: at the column of largest width that leaves k people in both; None if none does."""
    if len(codes) < 2 * k:
        return None
    for q in np.argsort(-_widths(codes, sizes, ranged), kind="stable"):
        left = _nearest_half(codes[:, q], k) if ranged[q] else _most_common(codes[:, q], k)
        if left is not None:
            return left
    return None


def _widths(codes: Ints, sizes: Ints, ranged: Bools) -> Floats:
    """How far people differ in each column (Q,), from 0 to 1."""
    spans = np.array([np.ptp(x) if r else len(np.unique(x)) - 1 for x, r in zip(codes.T, ranged, strict=True)])
    return np.asarray(spans / np.maximum(sizes - 1, 1))


def _nearest_half(code: Ints, k: int) -> Bools | None:
    """The cut between two cells that comes nearest to halves and leaves k people on both sides."""
    values, count = np.unique(code, return_counts=True)
    upto = np.cumsum(count)[:-1]
    able = (upto >= k) & (len(code) - upto >= k)
    if not able.any():
        return None
    best = np.where(able, np.abs(upto - len(code) / 2), np.inf).argmin()
    return np.asarray(code <= values[best])


def _most_common(code: Ints, k: int) -> Bools | None:
    """The most common cell against all others, if both have k people."""
    values, count = np.unique(code, return_counts=True)
    able = (count >= k) & (len(code) - count >= k)
    if not able.any():
        return None
    return np.asarray(code == values[np.where(able, count, -1).argmax()])
