"""Helpers for attributions: gradients by the encoded features, public background rows, scores of changed rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from scipy.special import ndtri

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.protocols import Differentiable, Model
from jali.core.values import Column, Floats, Ints, Schema
from jali.explain.native.capability import differentiable

CELLS = 2**21  # cells of changed rows that a model scores in one call, unless one record has more


@runtime_checkable
class Paths(Protocol):
    """A model that averages its gradients along a straight path faster than point by point."""

    def average(self, start: Floats, way: Floats, of: Ints, at: Floats, share: Floats) -> Floats:
        """Sum over k of share_k times the gradient (n, P) at start (P,) + at_k way (n, P)."""


@dataclass(frozen=True)
class Records:
    """Encoded records Z (n, P), their predicted class of (n,), and the model whose score of that class is explained."""

    model: Differentiable
    Z: Floats
    of: Ints

    def gradient(self, at: Floats) -> Floats:
        """Gradient (n, P) of each record's score at other encoded points (n, P)."""
        return self.model.gradient(at, self.of)

    def average(self, start: Floats, at: Floats, share: Floats) -> Floats:
        """Weighted sum of gradients (n, P) on the line from start (P,) to each record.

        at (K,): fractions of the line; share (K,): their weights.
        """
        way = self.Z - start
        if isinstance(self.model, Paths):
            return self.model.average(start, way, self.of, at, share)
        total = np.zeros_like(way)
        for t, weight in zip(at, share, strict=True):
            total += weight * self.gradient(start + t * way)
        return total


@dataclass(frozen=True, eq=False)
class Slopes:
    """A differentiable model (linear, network or torch module), and the name of the explainer for error messages."""

    name: str
    model: Model
    able: Differentiable
    encoding: Encoding

    @classmethod
    def of(cls, name: str, model: Model, schema: Schema) -> Slopes:
        """The gradients of a model; raises where it has none."""
        return cls(name, model, differentiable(name, model, schema), Encoding(schema))

    def records(self, X: Floats) -> Records:
        """Raw rows (n, D), encoded, with the class that the model predicts for each."""
        check(self.name, X, self.encoding.schema)
        return Records(self.able, self.encoding.encode(X), self.model.logits(X).argmax(axis=1))


def check(name: str, X: Floats, schema: Schema) -> None:
    """Refuse rows whose shape is not that of the schema, such as images of another size."""
    if X.ndim != 2 or X.shape[1] != len(schema.columns):
        shape = f" (images of {schema.image})" if schema.image else ""
        raise JaliError(f"{name} explains rows of {len(schema.columns)} columns{shape}, not {X.shape}.")


def public_rows(schema: Schema, count: int) -> Floats:
    """Legal raw rows (count, D) drawn from the schema alone, to stand for the population without being real people.

    Numbers are normal with the schema's centre and spread, categories are uniform. The points come from a Sobol
    sequence, so they are evenly spread and the same in every run. The first row is the centre.

    >>> public_rows(Schema((Column("age", "integer", 18, 90, 45, 15), Column("pay", spread=2.0))), 3)
    array([[45.       ,  0.       ],
           [55.       , -1.3489795],
           [35.       ,  1.3489795]])
    """
    from scipy.stats import qmc

    points = qmc.Sobol(len(schema.columns), scramble=False).fast_forward(1).random(count)
    drawn = [_drawn(c, u) for c, u in zip(schema.columns, points.T, strict=True)]
    encoding = Encoding(schema)
    return encoding.decode(encoding.encode(np.stack(drawn, axis=1)))


def _drawn(column: Column, u: Floats) -> Floats:
    """Quantiles of a column at levels u (n,) of the distribution that the schema declares."""
    if column.kind == "category":
        return np.asarray(np.floor(u * len(column.categories)))
    return np.asarray(column.centre + column.spread * ndtri(u))


def blocks(records: int, cells: int, most: int | None = None) -> list[slice]:
    """Blocks of records if each needs this many cells, and a block may have so many (CELLS)."""
    size = max(1, (most or CELLS) // cells)
    return [slice(at, at + size) for at in range(0, records, size)]


def scores(model: Model, rows: Floats, of: Ints) -> Floats:
    """Logit (n, S) of class of (n,) at S raw rows of each record, (n, S, D)."""
    n, each, width = rows.shape
    logits = model.logits(rows.reshape(n * each, width)).reshape(n, each, -1)
    return np.take_along_axis(logits, of[:, None, None], axis=2)[:, :, 0]
