"""The data-dependence check: which variables still change with one record while declared mechanisms are held fixed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np

from jali.core.values import Floats
from jali.privacy.mechanisms import CallsDifferError, Tape, recording, replaying
from jali.verify.answers import Answers
from jali.verify.mechanisms_under_test import Draw, MechanismUnderTest
from jali.verify.neighbours import Pair, TrainingSet
from jali.verify.search import Ranking

Data = TypeVar("Data")
ROWS = "the training rows themselves"
UNDECLARED = "noise that was not declared"
CALLS = "which mechanisms are called"


def leaking_variables(release: Callable[[Data], Floats], data: Data, neighbour: Data) -> tuple[str, ...]:
    """Names of the variables through which a release depends on one record, other than declared mechanisms.

    The release runs on the data while its mechanisms are recorded, and on the neighbour while their outputs are
    replayed. If the answers differ, the difference comes from elsewhere: from a marked variable, if the answer differs
    with all others replayed as well; else from the rows themselves. `release` must draw the same noise at every call.
    A dependence is found only if it shows in this pair of data sets, so an empty result is no proof.

    >>> from jali.core.values import Column, Dataset, Schema
    >>> from jali.privacy.mechanisms import mark, released
    >>> schema = Schema((Column("x"),))
    >>> here, there = (Dataset(np.array([[x], [2.0]]), [0, 1], schema) for x in (0.0, 1.0))
    >>> def noisy(data):
    ...     return released("noise on the mean", lambda: data.X.mean(axis=0) + 0.5)
    >>> leaking_variables(noisy, here, there)
    ()
    >>> leaking_variables(lambda data: noisy(data) * mark("largest value", data.X.max(axis=0)), here, there)
    ()
    >>> leaking_variables(lambda data: noisy(data) + mark("smallest value", data.X.min(axis=0)), here, there)
    ('smallest value',)
    """
    with recording() as tape:
        before = release(data)
    after, changed = _replayed(release, neighbour, tape, frozenset())
    if _same(before, after) and not changed:
        return ()
    every = frozenset(tape.marks)
    found = [name for name in tape.marks if not _same(before, _replayed(release, neighbour, tape, every - {name})[0])]
    hidden = not _same(before, _replayed(release, neighbour, tape, every)[0])
    rows = [ROWS] if hidden or not (found or changed) else []
    return (*dict.fromkeys(changed), *found, *rows)


# --- of a subject --------------------------------------------------------------------------------------------------


def check(subject: MechanismUnderTest, found: Ranking, seed: int) -> list[str]:
    """The leaking variables in any pair; UNDECLARED if no mechanism was declared, so that nothing could be checked.

    An answer that rarely changes may show no leak in one draw. If it changed in other draws and no mechanism was
    declared, the result is UNDECLARED too. Where a library draws the noise, nothing can be held fixed: see
    `not_applicable`.
    """
    if subject.library:
        return []
    names = list(dict.fromkeys(name for pair in found.pairs for name in _leaking(subject, pair, seed)))
    leaks = [name for name in names if name != UNDECLARED]
    declared = bool(declarations(subject, found.pairs[0], seed).releases)
    unchecked = not names and not declared and found.changed != 0
    return leaks or ([UNDECLARED] if names or unchecked else [])


def not_applicable(subject: MechanismUnderTest) -> str:
    """Why the check says nothing about a subject; empty where it applies.

    Declaring the whole training as one release would make the check pass without testing anything.
    """
    return f"not applicable: the library draws its own noise ({subject.library})" if subject.library else ""


def declarations(subject: MechanismUnderTest, pair: Pair, seed: int) -> Tape:
    """What mechanisms declare while one answer is drawn from the first data set of a pair."""
    with recording() as tape:
        _once(subject.draw, pair.query, seed, pair.first)
    return tape


def _leaking(subject: MechanismUnderTest, pair: Pair, seed: int) -> list[str]:
    """The leaking variables of a draw, and of the answers to several queries that are computed from a draw."""
    found: list[str] = []
    for draw in filter(None, (subject.draw, subject.answer)):
        queries = pair.queries(covers_decision=subject.own)
        release = partial(_once, draw, queries, seed)
        try:
            names = leaking_variables(release, pair.first, pair.second)
        except CallsDifferError:
            names = (CALLS,)
        if names == (ROWS,) and not declarations(subject, pair, seed).releases and _noisy(draw, pair, seed):
            names = (UNDECLARED,)
        found += names
    return found


def _once(draw: Draw, queries: Floats, seed: int, train: TrainingSet) -> Floats:
    """One draw, with the same noise every time."""
    return _comparable(draw(train, queries, 1, np.random.default_rng([seed, 2])))


def _noisy(draw: Draw, pair: Pair, seed: int) -> bool:
    """Whether draws from one data set differ."""
    some = _comparable(draw(pair.first, pair.query, 20, np.random.default_rng([seed, 3])))
    return not np.array_equal(some, np.broadcast_to(some[0], some.shape), equal_nan=True)


def _comparable(made: Floats | Answers) -> Floats:
    return made.comparable() if isinstance(made, Answers) else made


# --- replaying -----------------------------------------------------------------------------------------------------


def _replayed(
    release: Callable[[Data], Floats], neighbour: Data, tape: Tape, patched: frozenset[str]
) -> tuple[Floats, list[str]]:
    """The answer for the neighbour while a tape is replayed, and the constants of noise that differ."""
    with replaying(tape, patched) as changed:
        return release(neighbour), changed


def _same(a: Floats, b: Floats) -> bool:
    """Whether two answers are equal up to rounding."""
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-12, atol=1e-12, equal_nan=True))
