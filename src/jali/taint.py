"""What of the training data reaches a release past its declared mechanisms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from jali.core import Dataset, Floats
from jali.mechanisms import Tape, recording, replaying

ROWS = "the training rows themselves"
Release = Callable[[Dataset], Floats]


def carriers(release: Release, data: Dataset, neighbour: Dataset) -> tuple[str, ...]:
    """Names of the values through which the release depends on one record, other than declared mechanisms; () if none.

    The release runs on the data while its mechanisms are recorded, and on the neighbour while they are given back. If
    the answers differ, something else carries the difference: a marked value, if the answer differs with all others
    given back as well; else the rows themselves. `release` must draw the same noise every time it is called. It finds
    a dependence only if this pair of data sets shows it, so nothing found is no proof.

    >>> from jali.core import Column, Schema
    >>> from jali.mechanisms import mark, released
    >>> schema = Schema((Column("x"),))
    >>> here, there = (Dataset(np.array([[x], [2.0]]), [0, 1], schema) for x in (0.0, 1.0))
    >>> def noisy(data):
    ...     return released("noise on the mean", lambda: data.X.mean(axis=0) + 0.5)
    >>> carriers(noisy, here, there)
    ()
    >>> carriers(lambda data: noisy(data) * mark("largest value", data.X.max(axis=0)), here, there)
    ()
    >>> carriers(lambda data: noisy(data) + mark("smallest value", data.X.min(axis=0)), here, there)
    ('smallest value',)
    """
    with recording() as tape:
        before = release(data)
    after, changed = _again(release, neighbour, tape, frozenset())
    if _same(before, after) and not changed:
        return ()
    every = frozenset(tape.marks)
    found = [name for name in tape.marks if not _same(before, _again(release, neighbour, tape, every - {name})[0])]
    hidden = not _same(before, _again(release, neighbour, tape, every)[0])
    return (*dict.fromkeys(changed), *found, *([ROWS] if hidden or not (found or changed) else []))


def _again(release: Release, neighbour: Dataset, tape: Tape, patched: frozenset[str]) -> tuple[Floats, list[str]]:
    with replaying(tape, patched) as changed:
        return release(neighbour), changed


def _same(a: Floats, b: Floats) -> bool:
    """Equal but for rounding: the same arithmetic on the same numbers."""
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-12, atol=1e-12, equal_nan=True))
