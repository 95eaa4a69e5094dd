"""Which people in a register match the quasi-identifiers of an answer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from jali.core.claims import Identity
from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Regions
from jali.core.query import Oracle
from jali.core.values import Bools, Dataset, Floats, Ints, Rng

BLOCK = 1 << 24  # pairs of an answer and a person compared at once
Sift = Callable[[Ints, Bools], Bools]  # answers (a,) and who matches each (a, R) -> the candidates that remain (a, R)


def answers(name: str, oracle: Oracle, records: Dataset) -> Counterfactual:
    """The counterfactuals of the records."""
    counterfactuals = oracle.explanations(records.X)
    if not isinstance(counterfactuals, Counterfactual):
        raise JaliError(
            f"{name} reads counterfactuals, not {type(counterfactuals).__name__.lower()}s: choose such an explainer."
        )
    return counterfactuals


def everybody(answer: Ints, fits: Bools) -> Bools:  # noqa: ARG001 (the signature of a Sift)
    """Rule out no candidate."""
    return fits


def named(counterfactuals: Counterfactual, about: Ints, known: Dataset, rng: Rng, sift: Sift = everybody) -> Identity:
    """One claim per answer: a random person among the candidates.

    Answers with the same number in about (n,) are taken to be about one person: the candidates match all of them and
    are not ruled out by sift, which gets the first answer with each number. Nobody is named where there is no answer or
    no candidate.
    """
    quasi = identifying(known)
    shown = counterfactuals.shown(known.schema)
    person = np.full(len(about), -1)
    candidates = np.zeros(len(about), dtype=np.int64)
    numbers = np.unique(about[counterfactuals.found])
    size = max(1, BLOCK // max(1, len(known)))
    for some in np.split(numbers, range(size, len(numbers), size)):
        mine = counterfactuals.found & np.isin(about, some)
        at = np.searchsorted(some, about[mine])
        fits = _fitting(shown.pick(mine), at, len(some), known.X, np.flatnonzero(quasi))
        fits = sift(np.flatnonzero(mine)[np.unique(at, return_index=True)[1]], fits)
        one, many = _drawn(fits, known, rng)
        person[mine] = one[at]
        candidates[mine] = many[at]
    rows = np.where(quasi & (person >= 0)[:, None], known.X[person], counterfactuals.rows)
    sure = np.divide(1.0, candidates, out=np.zeros(len(candidates)), where=candidates > 0)
    return Identity(sure, person, candidates, rows)


def identifying(known: Dataset) -> Bools:
    """Which columns (D,) are quasi-identifiers."""
    return np.array([c.role == "quasi" for c in known.schema.columns])


def _fitting(shown: Regions, at: Ints, count: int, people: Floats, quasi: Ints) -> Bools:
    """Who (count, R) matches every answer with each number."""
    out = np.ones((count, len(people)), dtype=bool)
    for number, fits in zip(at, shown.covers(people, quasi), strict=True):
        out[number] &= fits
    return out


def _drawn(fits: Bools, known: Dataset, rng: Rng) -> tuple[Ints, Ints]:
    """One row (n,) of a random person among those who match (n, R), -1 for nobody; and how many people match."""
    if known.groups is not None:
        fits = _first(fits, known.groups)
    count = fits.sum(axis=1)
    nth = np.floor(rng.random(len(fits)) * count)
    at: Ints = (np.cumsum(fits, axis=1) > nth[:, None]).argmax(axis=1)
    return np.where(count > 0, at, -1), count


def _first(fits: Bools, groups: Ints) -> Bools:
    """Of the rows that match (n, R) the first of each group (R,)."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(groups[order]) > 0])
    before = np.cumsum(fits[:, order], axis=1, dtype=np.int64)
    mine = np.repeat(before[:, starts] - fits[:, order[starts]], np.diff(np.r_[starts, len(order)]), axis=1)
    out = np.empty_like(fits)
    out[:, order] = fits[:, order] & (before - mine == 1)
    return out
