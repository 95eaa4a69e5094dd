"""Rows of bounded length from public constants alone, and weights on them as an ordinary linear model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Floats, Schema
from jali.models.fitted.linear import LinearEnsemble

Scaling = Literal["bounds", "declared"]


@dataclass(frozen=True, eq=False)
class Frame:
    """Scaled rows u = scale * z + shift (P,) of rows z of model space, cut to length `bound`, and a one at the end.

    The one is the intercept's feature: it is penalised and noised like every other, and a whole row is never longer
    than `radius` = sqrt(bound^2 + 1).
    """

    encoding: Encoding
    scale: Floats
    shift: Floats
    bound: float

    @property
    def radius(self) -> float:
        """Largest length of a training row, its constant included."""
        return float(np.hypot(self.bound, 1.0))

    def rows(self, X: Floats) -> Floats:
        """Scaled raw rows (n, P + 1), as long as they come: what a score multiplies."""
        return np.column_stack([self.encoding.encode(X) * self.scale + self.shift, np.ones(len(X))])

    def cut(self, X: Floats) -> Floats:
        """Scaled raw rows (n, P + 1) of which none is longer than the radius: what training sees."""
        rows = self.rows(X)
        length = np.linalg.norm(rows[:, :-1], axis=1)
        rows[:, :-1] *= np.minimum(1.0, self.bound / np.maximum(length, 1e-300))[:, None]
        return rows

    def ensemble(self, W: Floats) -> LinearEnsemble:
        """Weights (M, P + 1) on scaled rows as linear models of model space; two classes share them evenly."""
        weight = W[:, :-1] * self.scale
        intercept = W[:, -1] + W[:, :-1] @ self.shift
        coef, b = np.stack([-weight, weight], axis=2) / 2, np.stack([-intercept, intercept], axis=1) / 2
        return LinearEnsemble(self.encoding, coef, b)


def frame(name: str, schema: Schema, bound: float, scaling: Scaling) -> Frame:
    """The frame of a table with two classes, from its schema and nothing else.

    `bounds` maps each number's legal range to [-1, 1]; `declared` takes the schema's centre and spread.

    >>> made = frame("x", Schema((Column("age", low=20, high=60, centre=30, spread=5),)), 1.0, "bounds")
    >>> made.rows(np.array([[20.0], [50.0]]))
    array([[-1. ,  1. ],
           [ 0.5,  1. ]])
    """
    if len(schema.classes) != 2:
        raise JaliError(f"{name} is for two classes, and this table has {len(schema.classes)}: merge classes.")
    encoding = Encoding(schema)
    scale, shift = np.ones(len(encoding.source)), np.zeros(len(encoding.source))
    if scaling == "bounds":
        for at in encoding.numeric:
            scale[at], shift[at] = _ranged(name, schema.columns[encoding.source[at]])
    return Frame(encoding, scale, shift, bound)


def labels(name: str, data: Dataset) -> Floats:
    """Labels (n,) as zeros and ones; the number of rows is public, so it may be refused for being zero."""
    if not len(data):
        raise JaliError(f"{name} was given no rows to train on.")
    return data.y.astype(np.float64)


def _ranged(name: str, column: Column) -> tuple[float, float]:
    """Scale and shift that bring a number's legal range to [-1, 1]."""
    if not np.isfinite([column.low, column.high]).all():
        raise JaliError(
            f"{name}: scaling by bounds needs a finite public range for every number, and column {column.name!r} has "
            'none: put low and high into the schema, or use scaling="declared" if centre and spread are public.'
        )
    if column.high <= column.low:
        return 0.0, 0.0
    half = (column.high - column.low) / 2
    return column.spread / half, (column.centre - column.low) / half - 1
