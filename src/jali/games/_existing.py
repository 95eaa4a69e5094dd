"""The two sides of a model that exists: the rows that trained it, and people it has not seen."""

from __future__ import annotations

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Bools, Dataset
from jali.games._draws import FEWEST


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
    return train, others
