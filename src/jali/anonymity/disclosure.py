"""What k people who match an answer still give away: values they share, how unlike others they are, where answers meet.

k-anonymity hides who an answer is about, not what is true of all it may be about. regions: n released answers; train:
the training rows; column: the name of a private column.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jali.anonymity.people import quasi_columns
from jali.core.errors import JaliError
from jali.core.explanation import Regions
from jali.core.values import Bools, Dataset, Floats, Ints, Schema


class Diversity(NamedTuple):
    """Of the people who match each answer (n,) how many values of a column they have, and how many that are common.

    distinct: different values. effective: exp of the entropy of their shares, distinct if all are as frequent; the
    answer is entropy l-diverse if it is at least l (Machanavajjhala et al., l-diversity, 2007).
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
    """t-closeness (n,): how far a private column of those who match lies from that of all training rows, 0 to 1.

    Earth mover's distance. Of a category, half the summed difference of shares; of a number with m values that occur,
    the summed difference of cumulated shares by m - 1. An answer is t-close if this is at most t.

    Li, Li and Venkatasubramanian, t-closeness, ICDE 2007.

    >>> from jali.core.values import Column
    >>> schema = Schema((Column("age", role="quasi"), Column("ill")))
    >>> train = Dataset(np.array([[24.0, 1], [25, 1], [26, 0], [40, 0]]), [0, 0, 0, 0], schema)
    >>> closeness(Regions(np.array([[24.0, 1]]), np.array([[25.0, 1]]), np.zeros((1, 2, 0)), schema), train, "ill")
    array([0.5])
    """
    return _distance(*_shares(_fits(regions, train), train, column), train, column)


def homogeneity(regions: Regions, train: Dataset) -> tuple[Floats, Floats]:
    """What all private columns say of each answer (n,), which is looked at once if it occurs several times.

    First the share of them in which all who match have one value, so that whoever of them it is, that is known: these
    columns are not even 2-diverse. Then the largest t-closeness of one.
    """
    private = [c.name for c in train.schema.columns if c.role != "quasi"]
    _, first, which = np.unique(regions.kinds(), return_index=True, return_inverse=True)
    some = regions.pick(first)
    one, far = np.zeros((2, len(private), len(first)))
    fits = _fits(some, train)
    for j, name in enumerate(private):
        share, whole = _shares(fits, train, name)
        one[j], far[j] = (share > 0).sum(axis=1) == 1, _distance(share, whole, train, name)
    mean, most = (one.mean(axis=0), far.max(axis=0)) if private else (np.zeros(len(first)), np.zeros(len(first)))
    return mean[which], most[which]


def together(regions: Regions, train: Dataset) -> Ints:
    """How many training rows (n,) match every answer that shows the same private values as each: 1 is a person found.

    Answers with the same exact private values are most likely about the same person, since they are copied from one.
    """
    about = regions.kinds(np.array([column.role != "quasi" for column in train.schema.columns]))
    fits, out = _fits(regions, train), np.zeros(len(regions), dtype=np.int64)
    for person in np.unique(about):
        out[about == person] = fits[about == person].all(axis=0).sum()
    return out


def _distance(share: Floats, whole: Floats, train: Dataset, column: str) -> Floats:
    """Earth mover's distance (n,) of shares (n, m) of the values of a column from those of all (m,)."""
    if train.schema.columns[_place(train.schema, column)].kind == "category":
        return np.asarray(np.abs(share - whole).sum(axis=1) / 2)
    return np.asarray(np.abs(np.cumsum(share - whole, axis=1)).sum(axis=1) / max(1, len(whole) - 1))


def _shares(fits: Bools, train: Dataset, column: str) -> tuple[Floats, Floats]:
    """Shares (n, m) of the m values of a column among those who match each answer (n, N), and among all (m,)."""
    values, place = np.unique(train.X[:, _place(train.schema, column)], return_inverse=True)
    count = np.zeros((len(fits), len(values)))
    answer, row = fits.nonzero()
    np.add.at(count, (answer, place[row]), 1.0)
    total = count.sum(axis=1, keepdims=True)
    return count / np.maximum(total, 1.0), np.bincount(place, minlength=len(values)) / len(train)


def _fits(regions: Regions, train: Dataset) -> Bools:
    return regions.covers(train.X, quasi_columns(train.schema))


def _place(schema: Schema, column: str) -> int:
    names = [c.name for c in schema.columns]
    if column not in names:
        raise JaliError(f"There is no column {column!r} to look at; there are {', '.join(names)}.")
    return names.index(column)
