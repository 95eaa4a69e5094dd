"""The two sides of a model that exists: the rows that trained it, and people it has not seen."""

from __future__ import annotations

import math

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Bools, Dataset
from jali.games._draws import FEWEST

TOLERATED = 0.05  # share of the population that may equal training rows beyond what is expected by chance


def sides(name: str, data: Dataset, members: int) -> tuple[Bools, Bools]:
    """The training rows (N,), which come first, and the rows (N,) of people outside the training set.

    Further rows of a person who is in the training set are in neither: that person is a member.
    """
    if members >= len(data):
        raise JaliError(f"{name}: {members} training rows of {len(data)} leave no population to compare with.")
    train = np.arange(len(data)) < members
    group = data.group_numbers()
    others = ~np.isin(group, np.unique(group[train]))
    if int(others.sum()) < FEWEST:
        raise JaliError(
            f"{name}: {int(others.sum())} rows are of people outside the training data; at least {FEWEST} are needed."
        )
    _check_strangers(name, data, train, others)
    return train, others


def _check_strangers(name: str, data: Dataset, train: Bools, others: Bools) -> None:
    """Refuse a population that holds the training rows themselves: it would count members as non-members.

    People may be alike by chance. How often that is shows among the training rows: the share of them that equal
    another one.
    """
    rows = np.concatenate([np.where(np.isnan(data.X), np.nan, data.X) + 0.0, data.y[:, None]], axis=1)
    content = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.itemsize * rows.shape[1])))[:, 0]
    known, times = np.unique(content[train], return_counts=True)
    copies = int(np.isin(content[others], known).sum())
    count = int(others.sum())
    chance = float(times[times > 1].sum() / times.sum())
    expected = chance * count
    if copies > expected + 4 * math.sqrt(expected * (1 - chance)) + TOLERATED * count:
        raise JaliError(
            f"{name}: {copies:,} of {count:,} rows of the population equal a training row in every column and the "
            f"label, and {int(times[times > 1].sum()):,} of {int(times.sum()):,} training rows equal another one. So "
            "the population seems to hold the training people, who would be counted as non-members: give people whom "
            "the model has never seen."
        )
