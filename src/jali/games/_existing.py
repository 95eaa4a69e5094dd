"""The two sides of a model that exists: the rows that trained it, and people it has not seen."""

from __future__ import annotations

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Bools, Dataset
from jali.data.tables.copies import copies
from jali.games._draws import FEWEST


def sides(name: str, data: Dataset, members: int) -> tuple[Bools, Bools]:
    """The training rows (N,), which come first, and the rows (N,) of people outside the training set.

    Further rows of a person who is in the training set are in neither: that person is a member. The same holds for rows
    that equal a training row, where people seldom do so by chance.
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
    return train, _strangers(name, data, train, others)


def _strangers(name: str, data: Dataset, train: Bools, others: Bools) -> Bools:
    """The others (N,) without rows that are training rows; refuses a population that holds the training people."""
    found = copies(data, train, others)
    if found.too_many:
        raise JaliError(
            f"{name}: {found.count:,} of {found.others:,} rows of the population equal a training row in every column "
            f"and the label, and {found.twins:,} of {found.train:,} training rows equal another one. So the population "
            "seems to hold the training people, who would be counted as non-members: give people whom the model has "
            "never seen."
        )
    return others & ~found.same_people
