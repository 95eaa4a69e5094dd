"""Helpers for explainers that answer with training rows: which records get an answer, and from which rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import softmax

from jali.core import distance
from jali.core.errors import JaliError
from jali.core.explanation import legal
from jali.core.protocols import Model
from jali.core.values import Bools, Dataset, Floats, Ints, Schema

Immutable = Literal["agree", "free"]
ROWS = 1 << 15  # rows that the model scores in one call
CELLS = 1 << 24  # pairs of record and training row whose immutable columns are compared at once


@dataclass(frozen=True, eq=False)
class Pool:
    """Training rows (N, D), the spans (D,) that HEOM divides by, and the immutable columns (f,) an answer must keep."""

    rows: Floats
    schema: Schema
    spans: Floats
    fixed: Ints

    @classmethod
    def of(
        cls, name: str, train: Dataset | None, schema: Schema, source: distance.Ranges, immutable: Immutable
    ) -> tuple[Pool, Dataset]:
        """The pool of a training set; raises where there is none."""
        if train is None or len(train) == 0:
            raise JaliError(f"{name} answers with rows of the training set, but none were given: pass them as train.")
        legal(train.X, schema)
        kept = [j for j, c in enumerate(schema.columns) if not c.mutable and immutable == "agree"]
        spans = distance.ranges(schema, train.X, source)
        return cls(train.X, schema, spans, np.array(kept, dtype=np.int64)), train

    def nearest(self, X: Floats, k: int, allowed: Bools | None = None) -> tuple[Ints, Floats]:
        """Positions and distances (n, k) of the k nearest rows that agree with X (n, D) on the fixed columns.

        allowed (N,): the rows to search among, all by default. Positions are -1 where there are fewer than k rows.
        """
        at = np.arange(len(self.rows)) if allowed is None else np.flatnonzero(allowed)
        rows = self.rows[at]
        index, value = np.full((len(X), k), -1), np.full((len(X), k), np.inf)
        for some, agrees in self._agreement(X, rows):
            index[some], value[some] = distance.nearest(X[some], rows, self.schema, self.spans, k, agrees)
        return np.where(index < 0, -1, at[index] if len(at) else -1), value

    def _agreement(self, X: Floats, rows: Floats) -> Iterator[tuple[slice, Bools | None]]:
        """Blocks of X, and which rows (b, N) agree with each record on the fixed columns; None where all do."""
        if not len(self.fixed):
            yield slice(None), None
            return
        both = np.concatenate([X[:, self.fixed], rows[:, self.fixed]])
        kind = np.unique(both, axis=0, return_inverse=True)[1].ravel()
        size = max(1, CELLS // max(1, len(rows)))
        for start in range(0, len(X), size):
            some = slice(start, min(start + size, len(X)))
            yield some, kind[some, None] == kind[len(X) :]


def require_favourable(name: str, labels: Ints, schema: Schema) -> None:
    """Refuse a model that predicts the favourable class for no training row; labels (N,): its predictions."""
    wanted = schema.favourable
    if wanted is not None and not (labels == wanted).any():
        raise JaliError(
            f"{name} shows training rows that the model predicts as {schema.classes[wanted]!r}, and there are none: "
            "audit a model that predicts this class, or choose another favourable class."
        )


def predictions(model: Model, rows: Floats) -> tuple[Floats, Ints]:
    """Probabilities (n, C) and labels (n,) that a model predicts for raw rows (n, D), in blocks."""
    blocks = [model.logits(rows[at : at + ROWS]) for at in range(0, max(1, len(rows)), ROWS)]
    logits = np.concatenate(blocks)
    return softmax(logits, axis=1), logits.argmax(axis=1)


def wanted_classes(predicted: Ints, schema: Schema) -> Bools:
    """Classes (n, C) that would be a better outcome for records with these predictions (n,).

    The favourable class, or any other class where none is favourable; none for a record that has the favourable one.

    >>> wanted_classes(np.array([0, 1]), Schema((), favourable=1)).tolist()
    [[False, True], [False, False]]
    """
    every = np.arange(len(schema.classes))
    other: Bools = every != predicted[:, None]
    return other if schema.favourable is None else other & (every == schema.favourable)


def by_wanted(wanted: Bools) -> Iterator[tuple[Ints, Bools]]:
    """Groups of records (m,) that want the same classes (C,); records that want none are left out."""
    for classes in np.unique(wanted, axis=0):
        if classes.any():
            yield np.flatnonzero((wanted == classes).all(axis=1)), classes
