"""Quality of recourse, one number per record: read them where a counterfactual was found.

Costs and distances are those of model space, where numbers count by their spread and a changed category turns two
columns. Time is the caller's to measure.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from jali.core import Counterfactual, Dataset, Floats, Ints, JaliError, Model, Schema
from jali.encoding import Encoding

BLOCK = 256  # rows compared with all training rows at once
SAME = 1e-9  # moves below this are rounding


def validity(model: Model, X: Floats, there: Counterfactual, schema: Schema) -> Floats:
    """Whether (n,) a released row has the outcome hoped for: the favourable class, else any but the record's own.

    Records without a row count as 0, and so do those that had the favourable class already.
    """
    before, after = (model.logits(rows).argmax(axis=1) for rows in (X, there.rows))
    hoped = after != before if schema.favourable is None else (after == schema.favourable) & (before != after)
    return np.asarray(there.found & hoped, dtype=np.float64)


def cost(X: Floats, there: Counterfactual, schema: Schema, norm: Literal["l0", "l1", "l2"]) -> Floats:
    """Length (n,) of the way from a record to its row; l0 counts the columns of model space that change.

    >>> from jali.core import Column
    >>> columns = (Column("age", "integer", centre=40, spread=10), Column("sex", "category", categories=("f", "m")))
    >>> there = Counterfactual(np.array([[60.0, 1.0]]), np.array([True]))
    >>> [float(cost(np.array([[30.0, 0.0]]), there, Schema(columns), norm)[0].round(3)) for norm in ("l0", "l1", "l2")]
    [3.0, 5.0, 3.317]
    """
    encode = Encoding(schema).encode
    move = np.abs(encode(there.rows) - encode(X))
    if norm == "l0":
        return np.asarray((move > SAME).sum(axis=1), dtype=np.float64)
    return np.asarray(move.sum(axis=1) if norm == "l1" else np.sqrt((move * move).sum(axis=1)))


def sparsity(X: Floats, there: Counterfactual, schema: Schema) -> Floats:
    """Share (n,) of the raw columns that change; small is sparse."""
    spread = np.array([1.0 if c.kind == "category" else c.spread for c in schema.columns])
    return np.asarray((np.abs(there.rows - X) / spread > SAME).mean(axis=1))


def plausibility(there: Counterfactual, wanted: Ints, owner: Dataset, k: int = 5) -> Floats:
    """Mean l2 distance (n,) of a row to the k nearest training rows of the class it reaches, wanted (n,).

    All training rows of the class are compared, 256 rows at a time; where a class has fewer than k, all of them count.
    """
    if k < 1:
        raise JaliError(f"plausibility: k must be at least 1, not {k}.")
    encoding, out = Encoding(owner.schema), np.zeros(len(there.rows))
    for label in np.unique(wanted):
        train, rows = encoding.encode(owner.X[owner.y == label]), np.flatnonzero(wanted == label)
        if not len(train):
            name = owner.schema.classes[label]
            raise JaliError(f"plausibility compares with training rows of class {name!r}, and there are none.")
        for some in np.split(rows, range(BLOCK, len(rows), BLOCK)):
            out[some] = _neighbours(encoding.encode(there.rows[some]), train, min(k, len(train)))
    return out


def _neighbours(Z: Floats, train: Floats, k: int) -> Floats:
    """Mean distance (n,) from points Z (n, P) to their k nearest in train (N, P)."""
    square = (Z * Z).sum(axis=1)[:, None] - 2 * Z @ train.T + (train * train).sum(axis=1)
    near = np.take_along_axis(square, np.argpartition(square, k - 1, axis=1)[:, :k], axis=1)
    return np.asarray(np.sqrt(np.maximum(near, 0.0)).mean(axis=1))
