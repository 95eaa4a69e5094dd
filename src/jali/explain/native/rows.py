"""What explainers share that answer with training rows: whom they answer, and which rows they may show to whom."""

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
ROWS = 1 << 15  # rows shown to the model at once
CELLS = 1 << 24  # pairs of a record and a row that are checked for agreement at once


@dataclass(frozen=True, eq=False)
class Pool:
    """Training rows (N, D), the spans (D,) that HEOM scales them by, and the columns (f,) that an answer must keep."""

    rows: Floats
    schema: Schema
    spans: Floats
    fixed: Ints

    @classmethod
    def of(
        cls, name: str, train: Dataset | None, schema: Schema, source: distance.Ranges, immutable: Immutable
    ) -> tuple[Pool, Dataset]:
        """The rows of the training set, or one sentence where there are none."""
        if train is None or len(train) == 0:
            raise JaliError(
                f"{name} answers with rows the model was trained on, and none were given: pass them as train."
            )
        legal(train.X, schema)
        kept = [j for j, c in enumerate(schema.columns) if not c.mutable and immutable == "agree"]
        spans = distance.ranges(schema, train.X, source)
        return cls(train.X, schema, spans, np.array(kept, dtype=np.int64)), train

    def nearest(self, X: Floats, k: int, allowed: Bools | None = None) -> tuple[Ints, Floats]:
        """The k nearest rows of each of X (n, D) that agree with it on the fixed columns: positions, distances (n, k).

        allowed (N,): rows that count; the others are not even looked at.
        """
        at = np.arange(len(self.rows)) if allowed is None else np.flatnonzero(allowed)
        rows = self.rows[at]
        index, value = np.full((len(X), k), -1), np.full((len(X), k), np.inf)
        for some, alike in self._alike(X, rows):
            index[some], value[some] = distance.nearest(X[some], rows, self.schema, self.spans, k, alike)
        return np.where(index < 0, -1, at[index] if len(at) else -1), value

    def _alike(self, X: Floats, rows: Floats) -> Iterator[tuple[slice, Bools | None]]:
        """Blocks of X, and which rows (b, N) agree with each; None where all do."""
        if not len(self.fixed):
            yield slice(None), None
            return
        both = np.concatenate([X[:, self.fixed], rows[:, self.fixed]])
        kind = np.unique(both, axis=0, return_inverse=True)[1].ravel()
        size = max(1, CELLS // max(1, len(rows)))
        for start in range(0, len(X), size):
            some = slice(start, min(start + size, len(X)))
            yield some, kind[some, None] == kind[len(X) :]


def hopeful(name: str, labels: Ints, schema: Schema) -> None:
    """Refuse a model that gives no training row the outcome hoped for; labels (N,): what it says of these rows."""
    hoped = schema.favourable
    if hoped is not None and not (labels == hoped).any():
        outcome = schema.classes[hoped]
        raise JaliError(f"{name} shows training rows that the model calls {outcome!r}, and there are none.")


def judged(model: Model, rows: Floats) -> tuple[Floats, Ints]:
    """Probabilities (n, C) and labels (n,) of raw rows, asked for in blocks."""
    blocks = [model.logits(rows[at : at + ROWS]) for at in range(0, max(1, len(rows)), ROWS)]
    logits = np.concatenate(blocks)
    return softmax(logits, axis=1), logits.argmax(axis=1)


def hopes(predicted: Ints, schema: Schema) -> Bools:
    """Classes (n, C) that records with these labels hope for: the favourable one, else any other; none if they have it.

    >>> hopes(np.array([0, 1]), Schema((), favourable=1)).tolist()
    [[False, True], [False, False]]
    """
    every = np.arange(len(schema.classes))
    other: Bools = every != predicted[:, None]
    return other if schema.favourable is None else other & (every == schema.favourable)


def parties(wanted: Bools) -> Iterator[tuple[Ints, Bools]]:
    """Records (m,) that hope for the same classes (C,), one party after the other; nobody who hopes for nothing."""
    for classes in np.unique(wanted, axis=0):
        if classes.any():
            yield np.flatnonzero((wanted == classes).all(axis=1)), classes
