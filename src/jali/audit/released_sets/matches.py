"""Rows that are equal: in a release and among people."""

from __future__ import annotations

import numpy as np

from jali.audit.released_sets.scores import agreement
from jali.core.values import Bools, Ints
from jali.data.tables.aligned import Aligned
from jali.results.released import Matches
from jali.stats.intervals import clopper_pearson
from jali.stats.people import people


def row_keys(*tables: Ints) -> list[Ints]:
    """The rows of tables (n, D) as numbers (n,): equal rows, of one table or of several, have equal numbers.

    >>> row_keys(np.array([[1, 2], [3, 4]]), np.array([[3, 4]]))
    [array([0, 1]), array([1])]
    """
    stacked = np.ascontiguousarray(np.concatenate(tables))
    order = np.lexsort(stacked.T[::-1])
    ranked = stacked[order]
    new = np.r_[False, (ranked[1:] != ranked[:-1]).any(axis=1)]
    number = np.empty(len(stacked), dtype=np.int64)
    number[order] = np.cumsum(new)
    return np.split(number, np.cumsum([len(t) for t in tables])[:-1])


def equal_rows(mine: Ints, others: Ints) -> Bools:
    """Which of my rows (n, D) are among others (m, D).

    >>> equal_rows(np.array([[1, 2], [3, 4]]), np.array([[3, 4]]))
    array([False,  True])
    """
    here, there = row_keys(mine, others)
    return np.isin(here, there)


def matches(tables: Aligned, truth: Bools | None, group: Ints) -> list[Matches]:
    """Exact and nearly exact matches of members and others, or of all candidates, and of the reference as null.

    truth and group (n,): membership, if known, and person of each candidate.
    """
    released = tables.codes("released")
    candidates = tables.codes("candidates")
    reference = tables.codes("reference")
    everybody = np.ones(len(candidates), dtype=bool)
    kinds = {"candidates": everybody} if truth is None else {"members": truth, "non-members": ~truth}
    out = [_matches(who, candidates[some], released, group[some]) for who, some in kinds.items()]
    return [*out, _matches("people of the reference", reference, released, np.arange(len(reference)))]


def _matches(who: str, rows: Ints, released: Ints, group: Ints) -> Matches:
    exact = equal_rows(rows, released)
    shared = agreement(rows, released, np.ones(rows.shape))
    found = int(people(group[exact])) if exact.any() else 0
    many = int(people(group))
    nearly = int(people(group[shared >= rows.shape[1] - 1])) if (shared >= rows.shape[1] - 1).any() else 0
    low, high = clopper_pearson(found, many)
    return Matches(who=who, n=many, exact=found, but_one=nearly - found, low=low, high=high)
