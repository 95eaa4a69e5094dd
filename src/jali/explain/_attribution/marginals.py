"""Draw columns independently, each from its own (marginal) distribution in some rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Dataset, Floats, Rng, Schema


@dataclass(frozen=True, eq=False)
class Marginals:
    """The marginal distributions of D columns: their values (m, D) in m rows, each column sorted.

    A category is drawn with its frequency. A number is drawn uniformly between two values that are adjacent in the
    sorted column, so frequent values stay frequent and nothing leaves the observed range; whole numbers are rounded.
    A constant column stays constant.

    >>> from jali.core.values import Column
    >>> schema = Schema((Column("a"), Column("b", "integer"), Column("c", "category", categories=("x", "y"))))
    >>> Marginals.of(np.array([[0.0, 5, 1], [10.0, 5, 1]]), schema).draw((3,), np.random.default_rng(0)).round(1)
    array([[6.4, 5. , 1. ],
           [0.2, 5. , 1. ],
           [6.1, 5. , 1. ]])
    """

    values: Floats
    schema: Schema

    @classmethod
    def of(cls, rows: Floats, schema: Schema) -> Marginals:
        """The marginal distributions of raw rows (m, D)."""
        return cls(np.sort(rows, axis=0), schema)

    def draw(self, shape: tuple[int, ...], rng: Rng) -> Floats:
        """Rows (..., D) whose columns are drawn independently."""
        share = rng.random((*shape, self.values.shape[1]))
        count = len(self.values)
        out = np.empty_like(share)
        order = np.linspace(0.0, 1.0, count)
        for j, column in enumerate(self.schema.columns):
            if column.kind == "category":
                out[..., j] = self.values[(share[..., j] * count).astype(np.int64), j]
                continue
            drawn = np.interp(share[..., j], order, self.values[:, j])
            out[..., j] = np.rint(drawn) if column.kind == "integer" else drawn
        return out


def required(name: str, train: Dataset | None) -> Dataset:
    """The training set; raises where there is none."""
    if train is None or len(train) == 0:
        raise JaliError(f"{name} reads the training set, but none was given: pass it as train.")
    return train
