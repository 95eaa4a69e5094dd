"""Rows scaled by public constants and clipped to a bounded length, and weights on them as a linear model."""

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
    """Scaled rows u = scale * z + shift (P,) of encoded features z, clipped to length `bound`, with a one at the end.

    The one is the feature of the intercept, which is penalised and noised like every other weight. A whole row is never
    longer than `radius` = sqrt(bound^2 + 1).
    """

    encoding: Encoding
    scale: Floats
    shift: Floats
    bound: float

    @property
    def radius(self) -> float:
        """The largest length of a training row, including its constant one."""
        return float(np.hypot(self.bound, 1.0))

    def rows(self, X: Floats) -> Floats:
        """Scaled rows (n, P + 1) of raw rows, not clipped: the weights multiply these to give a score."""
        return np.column_stack([self.encoding.encode(X) * self.scale + self.shift, np.ones(len(X))])

    def cut(self, X: Floats) -> Floats:
        """Scaled rows (n, P + 1) of raw rows, clipped so that none is longer than the radius: training uses these."""
        rows = self.rows(X)
        length = np.linalg.norm(rows[:, :-1], axis=1)
        rows[:, :-1] *= np.minimum(1.0, self.bound / np.maximum(length, 1e-300))[:, None]
        return rows

    def ensemble(self, W: Floats) -> LinearEnsemble:
        """Weights (M, P + 1) on scaled rows as linear models of encoded features; both classes get opposite halves."""
        weight = W[:, :-1] * self.scale
        intercept = W[:, -1] + W[:, :-1] @ self.shift
        coef = np.stack([-weight, weight], axis=2) / 2
        intercepts = np.stack([-intercept, intercept], axis=1) / 2
        return LinearEnsemble(self.encoding, coef, intercepts)


def frame(name: str, schema: Schema, bound: float, scaling: Scaling) -> Frame:
    """The frame of a table with two classes, from its schema alone.

    `bounds` maps each number's legal range to [-1, 1]; `declared` takes the schema's centre and spread.

    >>> made = frame("x", Schema((Column("age", low=20, high=60, centre=30, spread=5),)), 1.0, "bounds")
    >>> made.rows(np.array([[20.0], [50.0]]))
    array([[-1. ,  1. ],
           [ 0.5,  1. ]])
    """
    if len(schema.classes) != 2:
        raise JaliError(f"{name} needs exactly two classes, and this table has {len(schema.classes)}: merge classes.")
    encoding = Encoding(schema)
    scale = np.ones(len(encoding.source))
    shift = np.zeros(len(encoding.source))
    if scaling == "bounds":
        for at in encoding.numeric:
            scale[at], shift[at] = _ranged(name, schema.columns[encoding.source[at]])
    return Frame(encoding, scale, shift, bound)


def labels(name: str, data: Dataset) -> Floats:
    """Labels (n,) as zeros and ones; no rows are refused, which reveals nothing because their number is public."""
    if not len(data):
        raise JaliError(f"{name} was given no rows to train on.")
    return data.y.astype(np.float64)


def _ranged(name: str, column: Column) -> tuple[float, float]:
    """The scale and shift that map a number's legal range to [-1, 1]."""
    if not np.isfinite([column.low, column.high]).all():
        raise JaliError(
            f"{name}: scaling by bounds needs a finite public range for every number, and column {column.name!r} has "
            'none: put low and high into the schema, or use scaling="declared" if centre and spread are public.'
        )
    if column.high <= column.low:
        return 0.0, 0.0
    half = (column.high - column.low) / 2
    return column.spread / half, (column.centre - column.low) / half - 1
