"""What a k-anonymous answer still discloses: l-diversity, t-closeness, and the intersection of several answers.

k-anonymity hides which of k people an answer is about, but not what all of these people have in common. In this module,
regions are n released answers, train is the training set, and column is the name of a private column.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jali.anonymity.frequency_table import quasi_columns
from jali.core.errors import JaliError
from jali.core.explanation import Regions
from jali.core.values import Bools, Dataset, Floats, Ints, Schema


class Diversity(NamedTuple):
    """How many values of a private column the people who match each answer (n,) have.

    distinct: the number of different values. effective: exp of the entropy of their shares, which equals distinct if
    all values are equally frequent. An answer is entropy l-diverse if effective is at least l (Machanavajjhala et al.,
    l-diversity, 2007).
    """

    distinct: Ints
    effective: Floats


def diversity(regions: Regions, train: Dataset, column: str) -> Diversity:
    """l-diversity of a private column among the people who match each answer.

    >>> from jali.core.values import Column
    >>> schema = Schema((Column("age", role="quasi"), Column("ill")))
    >>> train = Dataset(np.array([[24.0, 1], [25, 1], [26, 0], [40, 0]]), [0, 0, 0, 0], schema)
    >>> some = Regions(np.array([[24.0, 1], [24.0, 1]]), np.array([[25.0, 1], [40.0, 1]]), np.zeros((2, 2, 0)), schema)
    >>> diversity(some, train, "ill").effective
    array([1., 2.])
    """
    share, _ = _shares(_fits(regions, train), train, column)
    entropy = -np.where(share > 0, share * np.log(np.where(share > 0, share, 1.0)), 0.0).sum(axis=1)
    return Diversity((share > 0).sum(axis=1), np.exp(entropy))


def closeness(regions: Regions, train: Dataset, column: str) -> Floats:
    """t-closeness (n,): the distance, 0 to 1, of a private column among the people who match from that of all rows.

    It is the earth mover's distance. For a category: half the sum of absolute differences of shares. For a number with
    m values that occur: the sum of absolute differences of cumulative shares, divided by m - 1. An answer is t-close if
    the distance is at most t.

    Li, Li and Venkatasubramanian, t-closeness, ICDE 2007.

    >>> from jali.core.values import Column
    >>> schema = Schema((Column("age", role="quasi"), Column("ill")))
    >>> train = Dataset(np.array([[24.0, 1], [25, 1], [26, 0], [40, 0]]), [0, 0, 0, 0], schema)
    >>> closeness(Regions(np.array([[24.0, 1]]), np.array([[25.0, 1]]), np.zeros((1, 2, 0)), schema), train, "ill")
    array([0.5])
    """
    return _distance(*_shares(_fits(regions, train), train, column), train, column)


def homogeneity(regions: Regions, train: Dataset) -> tuple[Floats, Floats]:
    """For each answer (n,): the share of homogeneous private columns, and the largest t-closeness of a private column.

    A column is homogeneous if all people who match the answer have the same value, so that this value is known
    whichever of them the answer is about (the column is not even 2-diverse). Equal answers are computed once.
    """
    private = [c.name for c in train.schema.columns if c.role != "quasi"]
    _, first, which = np.unique(regions.kinds(), return_index=True, return_inverse=True)
    some = regions.pick(first)
    one, far = np.zeros((2, len(private), len(first)))
    fits = _fits(some, train)
    for j, name in enumerate(private):
        share, whole = _shares(fits, train, name)
        one[j] = (share > 0).sum(axis=1) == 1
        far[j] = _distance(share, whole, train, name)
    if not private:
        return np.zeros(len(which)), np.zeros(len(which))
    return one.mean(axis=0)[which], far.max(axis=0)[which]


def together(regions: Regions, train: Dataset) -> Ints:
    """How many training rows (n,) match all answers with the same private values as this one; 1 identifies a person.

    Private values are copied from one person, so answers with equal private values are most likely about the same one.
    """
    about = regions.kinds(np.array([column.role != "quasi" for column in train.schema.columns]))
    fits = _fits(regions, train)
    out = np.zeros(len(regions), dtype=np.int64)
    for person in np.unique(about):
        out[about == person] = fits[about == person].all(axis=0).sum()
    return out


def _distance(share: Floats, whole: Floats, train: Dataset, column: str) -> Floats:
    """Earth mover's distance (n,) of the shares (n, m) of a column's m values from the shares among all rows (m,)."""
    if train.schema.columns[_place(train.schema, column)].kind == "category":
        return np.asarray(np.abs(share - whole).sum(axis=1) / 2)
    return np.asarray(np.abs(np.cumsum(share - whole, axis=1)).sum(axis=1) / max(1, len(whole) - 1))


def _shares(fits: Bools, train: Dataset, column: str) -> tuple[Floats, Floats]:
    """Shares (n, m) of a column's m values among the rows that match each answer (n, N), and among all rows (m,)."""
    values, place = np.unique(train.X[:, _place(train.schema, column)], return_inverse=True)
    count = np.zeros((len(fits), len(values)))
    answer, row = fits.nonzero()
    np.add.at(count, (answer, place[row]), 1.0)
    total = count.sum(axis=1, keepdims=True)
    return count / np.maximum(total, 1.0), np.bincount(place, minlength=len(values)) / len(train)


def _fits(regions: Regions, train: Dataset) -> Bools:
    """Which training rows match each region in all quasi-identifiers, (n, N)."""
    return regions.covers(train.X, quasi_columns(train.schema))


def _place(schema: Schema, column: str) -> int:
    """The position of a column, by its name."""
    names = [c.name for c in schema.columns]
    if column not in names:
        raise JaliError(f"There is no column {column!r} to look at; there are {', '.join(names)}.")
    return names.index(column)
