"""Find out by queries whether a model is linear."""

from __future__ import annotations

import numpy as np

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.protocols import Model
from jali.core.values import Column, Floats
from jali.models.fitted.linear import LinearModel

TRIALS = 50
TOLERANCE = 1e-6


def probed(model: Model, encoding: Encoding) -> LinearModel | None:
    """The model as a linear function of the encoded features, or None if its logits are not affine in them.

    The logits of one row at the lower bounds, one row per number with that column at its upper bound, and one row per
    further category give coef (P, C) and intercept (C,) by differences; random legal rows must then agree to 1e-6.
    The effects of the categories of a column are centred to add up to zero, as in a penalised one-hot fit.
    """
    if len(encoding.gaps):
        return None  # what a model does with a missing number need not be affine in anything
    X, column = _ladder(encoding)
    try:
        logits, trials = model.logits(X), _legal(encoding, np.random.default_rng(0))
        truth = model.logits(trials)
    except JaliError:  # a pipeline may refuse legal rows, such as those with a category it was not fitted on
        return None
    Z = encoding.encode(X)
    coef = np.zeros((Z.shape[1], logits.shape[1]))
    run = Z[np.arange(1, len(X)), column] - Z[0, column]
    coef[column] = (logits[1:] - logits[0]) / run[:, None]
    for block in _blocks(encoding):
        coef[block] -= coef[block].mean(axis=0)
    found = LinearModel(encoding, coef, logits[0] - Z[0] @ coef)
    off = np.abs(found.logits(trials) - truth).max()
    return found if off <= TOLERANCE * max(1.0, np.abs(truth).max()) else None


def _ladder(encoding: Encoding) -> tuple[Floats, list[int]]:
    """Raw rows (1 + K, D), each but the first with one column changed, and the encoded feature (K,) that rises."""
    ends = [_ends(c) for c in encoding.schema.columns]
    rows, raised = [np.array([low for low, _ in ends])], []
    for at, j in enumerate(encoding.source):
        low, high = ends[j]
        first = int(np.searchsorted(encoding.source, j))
        value = at - first if encoding.schema.columns[j].kind == "category" else high
        if value != low:
            rows.append(rows[0].copy())
            rows[-1][j] = value
            raised.append(at)
    return np.stack(rows), raised


def _ends(column: Column) -> tuple[float, float]:
    """Two legal values that are far apart; the bounds where there are any."""
    if column.kind == "category":
        return 0.0, len(column.categories) - 1.0
    low = column.low if np.isfinite(column.low) else min(column.centre, column.high) - 3 * column.spread
    high = column.high if np.isfinite(column.high) else max(column.centre, column.low) + 3 * column.spread
    return (float(np.ceil(low)), float(np.floor(high))) if column.kind == "integer" else (low, high)


def _legal(encoding: Encoding, rng: np.random.Generator) -> Floats:
    """Random legal raw rows (TRIALS, D)."""
    ends = np.array([_ends(c) for c in encoding.schema.columns])
    X = rng.uniform(ends[:, 0], ends[:, 1], (TRIALS, len(ends)))
    whole = np.array([c.kind != "number" for c in encoding.schema.columns])
    return np.where(whole, np.rint(X), X)


def _blocks(encoding: Encoding) -> list[slice]:
    """The encoded features of each categorical column."""
    edges = [np.searchsorted(encoding.source, [j, j + 1]) for j in range(len(encoding.schema.columns))]
    kinds = [c.kind for c in encoding.schema.columns]
    return [slice(int(a), int(b)) for (a, b), kind in zip(edges, kinds, strict=True) if kind == "category"]
