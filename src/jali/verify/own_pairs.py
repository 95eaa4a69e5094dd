"""Pairs of neighbouring data sets from a user's own table, and pairs that a user's own function makes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from jali.config import Config
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.guarantee import Adjacency
from jali.core.protocols import Trainer
from jali.core.values import Dataset, Floats
from jali.verify.mechanisms_under_test import MechanismUnderTest
from jali.verify.neighbours import AT, INSTEAD, Pair, TrainingSet, differing, fitted, replaced
from jali.verify.own_release import imported

LARGEST = 2000  # rows of a table that are used


def chosen_pairs(subject: MechanismUnderTest, data: str, target: str, pairs: str, seed: int) -> list[Pair] | None:
    """The pairs that the options --data, --target and --pairs ask for; None if they ask for none."""
    if data and pairs:
        raise JaliError("Give either --data or --pairs, not both: --pairs brings its own tables.")
    if target and not data:
        raise JaliError("--target names a column of --data: give the table, too.")
    if pairs:
        return given_pairs(imported(pairs), pairs, subject)
    if not data:
        return None
    trainer = None if subject.own else subject.trainer
    found = table_pairs(loaded(data, target), trainer, subject.guarantee.adjacency, seed)
    if not found:
        raise JaliError(f"{data} gave no pair of data sets whose models decide the query alike: use --pairs.")
    return found


def loaded(data: str, target: str) -> Dataset:
    """The table of a file, with its target, or of a data set by its specification."""
    found: Dataset = registry.build("data", Config(data=data, target=target).source()).load()
    return found


# --- a user's own table --------------------------------------------------------------------------------------------


def table_pairs(data: Dataset, trainer: Trainer | None, adjacency: Adjacency, seed: int) -> list[Pair]:
    """Pairs of one table: some of its people change their label, become somebody else, take extreme values or leave.

    The people are the most ordinary one, the most unusual one, one of the rarest class, one of the rarest category, one
    who has a double and one whose values are missing, where there are any.
    """
    rng = np.random.default_rng([seed, 9])
    if len(data) > LARGEST:
        data = data.rows(np.sort(rng.permutation(len(data))[:LARGEST]))
    first = _set(data, trainer)
    found: list[Pair] = []
    for name, who in _people(data).items():
        found += _changed(first, name, who, trainer, adjacency, rng)
    return [pair for pair in found if trainer is None or pair.decided_alike]


def _people(data: Dataset) -> dict[str, int]:
    """Rows of people who differ in how much they stand out."""
    gaps = np.isnan(data.X)
    known = np.ma.masked_array(data.X, gaps)
    scaled = (known - known.mean(axis=0)) / np.maximum(known.std(axis=0).filled(0.0), 1e-12)
    distance = np.linalg.norm(scaled.filled(0.0), axis=1)
    classes = np.bincount(data.y, minlength=len(data.schema.classes))
    found = {
        "the most ordinary person": int(distance.argmin()),
        "the most unusual person": int(distance.argmax()),
        "one of the rarest class": int(classes[data.y].argmin()),
    }
    for j, column in enumerate(data.schema.columns):
        if column.kind == "category":
            counts = np.bincount(data.X[:, j].astype(np.int64))
            found[f"one of the rarest {column.name}"] = int(counts[data.X[:, j].astype(np.int64)].argmin())
    if gaps.any():
        found["the one with most missing values"] = int(gaps.sum(axis=1).argmax())
    _, at, counts = np.unique(_with_gaps(data.X), axis=0, return_index=True, return_counts=True)
    if (counts > 1).any():
        found["one who has a double"] = int(at[np.flatnonzero(counts > 1)[0]])
    return found


def _changed(
    first: TrainingSet, name: str, who: int, trainer: Trainer | None, adjacency: Adjacency, rng: Any
) -> list[Pair]:
    """What may happen to one person, with the query at the record and at what replaces it."""
    data = first.data
    row = data.X[who]
    other = int(rng.integers(len(data)))
    label = (int(data.y[who]) + 1) % len(data.schema.classes)
    seconds = {
        "gets another label": replaced(data, who, row, label),
        "becomes somebody else": replaced(data, who, data.X[other], int(data.y[other])),
        "takes the lowest values": replaced(data, who, _extreme(data.X, np.fmin)),
        "takes the highest values": replaced(data, who, _extreme(data.X, np.fmax)),
    }
    may_miss = np.array([column.missing for column in data.schema.columns], dtype=bool)
    if may_miss.any():
        seconds["loses values"] = replaced(data, who, np.where(may_miss, np.nan, row))
    if adjacency == "add-remove":
        seconds["leaves"] = data.rows(np.arange(len(data)) != who)
    found: list[Pair] = []
    for what, second in seconds.items():
        same_size = len(second) == len(data)
        if same_size and not differing(second.X, data.X).any() and (second.y == data.y).all():
            continue
        made = _set(second, trainer)
        queries = {AT: row}
        if same_size and differing(second.X[who], row).any():
            queries[INSTEAD] = second.X[who]
        for where, query in queries.items():
            found.append(Pair(f"{name} {what}, query {where}", first, made, query[None].copy(), what))
    return found


def _extreme(X: Floats, which: np.ufunc) -> Floats:
    """The least or greatest known value of each column; missing where none is known."""
    return np.asarray(which.reduce(X, axis=0))


def _with_gaps(X: Floats) -> Floats:
    """Two columns for each: whether a value is missing, and the value, 0 where it is; so that rows can be compared."""
    gaps = np.isnan(X)
    return np.column_stack([gaps, np.where(gaps, 0.0, X)])


def _set(data: Dataset, trainer: Trainer | None) -> TrainingSet:
    return TrainingSet(data) if trainer is None else fitted(trainer, data)


# --- a user's own pairs --------------------------------------------------------------------------------------------


def given_pairs(make: Any, name: str, subject: MechanismUnderTest) -> list[Pair]:
    """The pairs (first, second, query) that a user's function returns, each checked to differ in one record."""
    try:
        made = list(make())
    except Exception as error:  # whatever a user's code may raise
        raise JaliError(f"{name}() raised {type(error).__name__}: {error}.") from error
    if not made:
        raise JaliError(f"{name}() returned no pairs: return (first, second, query) for each, of Dataset and a row.")
    trainer = None if subject.own else subject.trainer
    return [_checked(at, each, name, subject, trainer) for at, each in enumerate(made)]


def _checked(at: int, given: Any, name: str, subject: MechanismUnderTest, trainer: Trainer | None) -> Pair:
    """One pair of a user's own."""
    parts = tuple(given) if isinstance(given, Iterable) else ()
    if len(parts) != 3 or not all(isinstance(each, Dataset) for each in parts[:2]):
        raise JaliError(f"Pair {at} of {name} must be (first, second, query), two Dataset and a row.")
    first: Dataset = parts[0]
    second: Dataset = parts[1]
    query: Floats = np.atleast_2d(np.asarray(parts[2], dtype=np.float64))
    if query.shape != (1, first.X.shape[1]):
        raise JaliError(f"The query of pair {at} of {name} must be one row of {first.X.shape[1]} values.")
    second = dataclasses.replace(second, schema=first.schema)
    differ = _records_that_differ(first, second)
    removal = subject.guarantee.adjacency == "add-remove"
    if differ != 1 or (len(first) != len(second) and not removal):
        wanted = "one record, replaced, added or removed" if removal else "one replaced record"
        raise JaliError(
            f"Pair {at} of {name} must differ in {wanted}; there are {len(first)} and {len(second)} rows, and "
            f"{differ} records differ."
        )
    if len(first) < len(second):
        first, second = second, first
    return Pair(f"pair {at} of {name}", _set(first, trainer), _set(second, trainer), query, f"pair {at}")


def _records_that_differ(first: Dataset, second: Dataset) -> int:
    """How many records of the larger data set are not in the other, whatever the order."""
    rows = [np.column_stack([_with_gaps(data.X), data.y]) for data in (first, second)]
    _, which = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
    which = which.ravel()
    counts = [np.bincount(part, minlength=which.max() + 1) for part in (which[: len(first)], which[len(first) :])]
    return int(max(np.maximum(counts[0] - counts[1], 0).sum(), np.maximum(counts[1] - counts[0], 0).sum()))
