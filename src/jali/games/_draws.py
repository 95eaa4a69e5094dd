"""Random subsets of records that keep the rows of one group together."""

from __future__ import annotations

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Bools, Dataset, Ints, Rng

FEWEST = 10
RARE = 20  # people of a class: below, a random half of all people may have none of them
REFERENCE = 0.3  # share of the people that a game sets aside where an attack needs them


def subsets(group: Ints, share: float, count: int, rng: Rng, pool: Bools | None = None) -> Bools:
    """Independent random subsets (N, count), each a share of the groups in the pool of rows."""
    ids = np.unique(group if pool is None else group[pool])
    size = round(share * len(ids))
    out = np.zeros((len(group), count), dtype=bool)
    for j in range(count):
        out[:, j] = np.isin(group, rng.choice(ids, size, replace=False))
    return out


def evenly(data: Dataset, share: float, count: int, rng: Rng, pool: Bools) -> Bools:
    """The same subsets (N, count) of the pool, with each rare class drawn apart, so that no subset goes without it.

    A person is of the class of their first row. Where no class is rare, nothing else is drawn than by `subsets`.
    """
    group = data.group_numbers()
    first = np.flatnonzero(pool)[np.unique(group[pool], return_index=True)[1]]
    people = np.bincount(data.y[first], minlength=len(data.schema.classes))
    rare = np.flatnonzero((people > 0) & (people < RARE))
    if not len(rare):
        return subsets(group, share, count, rng, pool)
    out = np.zeros((len(group), count), dtype=bool)
    for kind in (*rare.tolist(), None):
        mine = ~np.isin(data.y[first], rare) if kind is None else data.y[first] == kind
        ids = group[first[mine]]
        size = min(max(round(share * len(ids)), 1), max(1, len(ids) - 1))
        for j in range(count if len(ids) else 0):
            out[:, j] |= np.isin(group, rng.choice(ids, size, replace=False))
    return out


def split(group: Ints, share: float, rng: Rng) -> Bools:
    """A random share of the groups as a mask (N,)."""
    return subsets(group, share, 1, rng)[:, 0]


def set_aside(group: Ints, share: float, rng: Rng, pool: Bools | None = None) -> Bools:
    """A random share of the groups in the pool (N,) as a mask (N,); a share of 0 draws nothing from the stream."""
    if not share:
        return np.zeros(len(group), dtype=bool)
    return np.asarray(subsets(group, share, 1, rng, pool)[:, 0])


def enough(name: str, data: Dataset, member: Bools, scored: Bools) -> None:
    """Refuse a game whose training sets are too small, or which scores no row."""
    smallest = int(member.sum(axis=0).min())
    if smallest < FEWEST:
        raise JaliError(
            f"{name}: {len(data)} rows give a training set of only {smallest}; at least {FEWEST} are needed: "
            "use more rows or a larger share."
        )
    if not scored.any():
        raise JaliError(f"{name}: no row is left to be scored; use more rows or smaller shares.")


def proportion(name: str, field: str, value: float) -> None:
    """Refuse a share outside (0, 1)."""
    if not 0 < value < 1:
        raise JaliError(f"{name}: {field} must lie between 0 and 1, not {value}.")


def share_or_none(name: str, field: str, value: float) -> None:
    """Refuse a share outside [0, 1)."""
    if not 0 <= value < 1:
        raise JaliError(f"{name}: {field} must be 0, or lie between 0 and 1, not {value}.")


def positive(name: str, field: str, value: int, least: int = 1) -> None:
    """Refuse a count that is too small."""
    if value < least:
        raise JaliError(f"{name}: {field} must be at least {least}, not {value}.")
