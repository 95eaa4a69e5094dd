"""Whether attributions name the columns that the model uses: deletion and insertion curves.

Columns are replaced by those of a typical row of the population (medians, most frequent categories), the one with the
largest attribution first (deletion), or put into the typical row in the same order (insertion). The measure is the mean
probability of the predicted class along the way (Petsiuk, Das and Saenko, RISE, 2018).
"""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from jali.core.encoding import Encoding
from jali.core.explanation import Attribution
from jali.core.protocols import Model
from jali.core.values import Dataset, Floats, Ints


def faithfulness(model: Model, people: Dataset, given: Attribution) -> dict[str, Floats]:
    """Deletion and insertion (n,) of the attributions of the people."""
    X = people.X
    source = Encoding(people.schema).source
    by_column = np.stack([given.value[:, source == j].sum(axis=1) for j in range(X.shape[1])], axis=1)
    order = np.argsort(-by_column, axis=1, kind="stable")
    label = model.logits(X).argmax(axis=1)
    other = np.broadcast_to(typical(people), X.shape)
    return {"deletion": _along(model, X, other, order, label), "insertion": _along(model, other, X, order, label)}


def typical(people: Dataset) -> Floats:
    """A row (D,) of medians and most frequent categories; whole numbers are whole."""
    out = np.median(people.X, axis=0)
    for j, column in enumerate(people.schema.columns):
        if column.kind == "category":
            out[j] = np.bincount(people.X[:, j].astype(np.int64)).argmax()
        elif column.kind == "integer":
            out[j] = np.rint(out[j])
    return out


def _along(model: Model, start: Floats, goal: Floats, order: Ints, label: Ints) -> Floats:
    """Mean probability (n,) of class label as columns of start become those of goal, in this order (n, D)."""
    rows = np.array(start)
    at = np.arange(len(rows))
    total = np.zeros(len(rows))
    for column in order.T:
        rows[at, column] = goal[at, column]
        total += softmax(model.logits(rows), axis=1)[at, label]
    return np.asarray(total / order.shape[1])
