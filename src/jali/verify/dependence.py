"""What of the training data reaches a release past its declared mechanisms, and what those say about their noise."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from jali.core.guarantee import Guarantee, accounting
from jali.core.values import Dataset, Floats
from jali.privacy.mechanisms import Tape, recording, replaying

if TYPE_CHECKING:
    from dp_accounting import DpEvent

ROWS = "the training rows themselves"
UNDECLARED = "noise that was not declared"
CALLS = "which mechanisms are called"
Release = Callable[[Dataset], Floats]


def carriers(release: Release, data: Dataset, neighbour: Dataset) -> tuple[str, ...]:
    """Names of the values through which the release depends on one record, other than declared mechanisms; () if none.

    The release runs on the data while its mechanisms are recorded, and on the neighbour while they are given back. If
    the answers differ, something else carries the difference: a marked value, if the answer differs with all others
    given back as well; else the rows themselves. `release` must draw the same noise every time it is called. It finds
    a dependence only if this pair of data sets shows it, so nothing found is no proof.

    >>> from jali.core.values import Column, Schema
    >>> from jali.privacy.mechanisms import mark, released
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


def event(given: Guarantee, tape: Tape) -> DpEvent | None:
    """What the mechanisms on a tape did, for `dp-accounting`, if their declared constants tell.

    Each with `scale` and `sensitivity` (the largest sum of changes): Laplace noise, or a ball's. With the `multiplier`
    that a claim rests on: the claim's event, with the multiplier that was used.

    >>> from jali.privacy.mechanisms import released
    >>> with recording() as tape:
    ...     _ = released("noise", lambda: np.zeros(1), scale=2.0, sensitivity=1.0)
    >>> event(Guarantee("x", 0.5, "replace-one", ("decisions",)), tape)
    LaplaceDpEvent(noise_multiplier=2.0)
    """
    noise: list[Any] = []
    for _, constants, _ in tape.releases:
        if "multiplier" in constants and hasattr(given, "multiplier"):
            noise.append(dataclasses.replace(given, multiplier=constants["multiplier"]).event())  # type: ignore[call-arg]
        elif constants.get("sensitivity", 0) > 0 and "scale" in constants:
            noise.append(accounting().LaplaceDpEvent(constants["scale"] / constants["sensitivity"]))
        else:
            return None
    return noise[0] if len(noise) == 1 else accounting().ComposedDpEvent(noise) if noise else None


def _again(release: Release, neighbour: Dataset, tape: Tape, patched: frozenset[str]) -> tuple[Floats, list[str]]:
    with replaying(tape, patched) as changed:
        return release(neighbour), changed


def _same(a: Floats, b: Floats) -> bool:
    """Equal but for rounding: the same arithmetic on the same numbers."""
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-12, atol=1e-12, equal_nan=True))
