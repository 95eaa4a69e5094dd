"""People who are one of a kind: an average over everybody may hide how exposed they are."""

from __future__ import annotations

import numpy as np

from jali.core.values import Bools, Column, Dataset, Floats, Ints

BINS = 10
NAMED = 4  # columns that a label lists
MOST = 0.9  # of all records: above, they are nearly everybody, and no group of their own


def one_of_a_kind(data: Dataset) -> dict[str, Bools]:
    """The records (N,) of people whose values no other person of the audit has, by a label that says on which columns.

    The columns are the quasi-identifiers: by these people can be found. Where none is named they are all columns, but
    then the group is left out if it has more than nine in ten records, or if records are pictures. Numbers are cut at
    their deciles if they have more than ten values. The literature calls these people single-outs.
    """
    columns = data.schema.columns
    quasi = [j for j, column in enumerate(columns) if column.role == "quasi"]
    if not quasi and data.schema.image is not None:
        return {}
    chosen = quasi or list(range(len(columns)))
    codes = np.stack([_coded(columns[j], data.X[:, j]) for j in chosen], axis=1)
    alone = _alone(codes, data.group_numbers())
    if not quasi and alone.mean() > MOST:
        return {}
    named = _listed([columns[j].name for j in quasi]) if quasi else f"all {len(columns)} columns"
    return {f"one of a kind on {named}": alone}


def _coded(column: Column, x: Floats) -> Ints:
    """A number for each category or, of a number with more than ten values, for each tenth."""
    values, code = np.unique(x, return_inverse=True)
    if column.kind == "category" or len(values) <= BINS:
        return code
    cuts = np.unique(np.nanquantile(x, np.arange(1, BINS) / BINS))  # missing values are above all others
    return np.searchsorted(cuts, x, side="left")


def _alone(codes: Ints, person: Ints) -> Bools:
    """Whether a record's row of codes (N, Q) belongs to one person (N,) only.

    >>> _alone(np.array([[0, 1], [0, 1], [2, 1], [2, 1]]), np.array([0, 1, 2, 2]))
    array([False, False,  True,  True])
    """
    cell = np.unique(codes, axis=0, return_inverse=True)[1].reshape(-1)
    pairs = np.unique(np.stack([cell, person], axis=1), axis=0)
    people = np.bincount(pairs[:, 0])
    return np.asarray(people[cell] == 1)


def _listed(names: list[str]) -> str:
    """The first names, and how many more there are.

    >>> _listed(["age", "sex"]), _listed(list("abcdef"))
    ('age, sex', 'a, b, c, d and 2 more')
    """
    if len(names) <= NAMED:
        return ", ".join(names)
    return f"{', '.join(names[:NAMED])} and {len(names) - NAMED} more"
