"""Perturbed copies of records, with the same perturbations for all, and how many keep their label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.core.errors import JaliError
from jali.core.explanation import categories
from jali.core.values import Dataset, Floats, Ints, Rng, Schema
from jali.query_attacks._shadow import Labeller

ROWS = 1 << 16  # perturbed copies that are held at once
CELLS = 1 << 22  # values in them


@dataclass(frozen=True)
class Moves:
    """R perturbations of a record: x' = factor * x + shift, both (R, D), brought back to legal values.

    Every record gets the same R perturbations. So its score depends neither on the other records nor on their order,
    and few random numbers are drawn.
    """

    factor: Floats
    shift: Floats


def checked(name: str, perturbations: int) -> None:
    """Refuse fewer than one perturbation."""
    if perturbations < 1:
        raise JaliError(f"{name}: perturbations must be at least 1, not {perturbations}.")


def deviations(known: Dataset) -> Floats:
    """Standard deviation (D,) of each number column; 0 for one that is constant, and for a category."""
    out = np.where(np.ptp(known.X, axis=0) > 0, known.X.std(axis=0), 0.0)
    out[categories(known.schema)] = 0.0
    return out


def additive(known: Dataset, count: int, scale: float, flip: float, rng: Rng) -> Moves:
    """Numbers plus N(0, (scale sd)^2), sd of the known rows; a code with probability flip drawn from the known ones."""
    shift = scale * deviations(known) * rng.normal(size=(count, known.X.shape[1]))
    factor = np.ones(shift.shape)
    for j in categories(known.schema):
        moved = rng.random(count) < flip
        shift[:, j] = np.where(moved, rng.choice(known.X[:, j], count), 0.0)
        factor[:, j] = ~moved
    return Moves(factor, shift)


def multiplicative(schema: Schema, count: int, low: float, high: float, rng: Rng) -> Moves:
    """Numbers times 1 - u or 1 + u, with u uniform in [low, high]; codes stay."""
    shape = (count, len(schema.columns))
    factor = 1.0 + rng.choice([-1.0, 1.0], shape) * rng.uniform(low, high, shape)
    factor[:, categories(schema)] = 1.0
    return Moves(factor, np.zeros(shape))


def robustness(label: Labeller, X: Floats, wanted: Ints, moves: Moves, schema: Schema) -> Floats:
    """Share (n,) of the perturbed copies of each record that have the wanted label (n,)."""
    count, width = moves.factor.shape
    kept = np.zeros(len(X), dtype=np.int64)
    most = at_once(width)
    step = max(1, most // count)
    for at in range(0, len(X), step):
        rows = slice(at, at + step)
        for by in range(0, count, most):
            ways = slice(by, by + most)
            changed = X[rows, None] * moves.factor[ways] + moves.shift[ways]
            labels = label(legal(changed.reshape(-1, width), schema)).reshape(changed.shape[:2])
            kept[rows] += (labels == wanted[rows, None]).sum(axis=1)
    return np.asarray(kept / count)


def at_once(width: int) -> int:
    """How many rows of this many columns are queried at once."""
    return max(1, min(ROWS, CELLS // width))


def legal(X: Floats, schema: Schema) -> Floats:
    """Rows (n, D), changed in place: whole numbers rounded, numbers brought back to their bounds."""
    for j, column in enumerate(schema.columns):
        if column.kind == "integer":
            np.rint(X[:, j], out=X[:, j])
        if column.kind != "category" and np.isfinite([column.low, column.high]).any():
            np.clip(X[:, j], column.low, column.high, out=X[:, j])
    return X
