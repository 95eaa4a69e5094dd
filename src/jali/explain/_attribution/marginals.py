"""Values of columns, each drawn from its own distribution in some rows and from nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Dataset, Floats, Rng, Schema


@dataclass(frozen=True, eq=False)
class Marginals:
    """The values (m, D) that each column takes in m rows, in rising order.

    A category is drawn as often as it came. A number lies between two values that are neighbours in that order,
    anywhere with equal chance: so values that many rows share stay as frequent as they are, nothing leaves the range,
    and whole numbers are rounded. A column that is constant stays so.

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
        """Those of some raw rows (m, D)."""
        return cls(np.sort(rows, axis=0), schema)

    def draw(self, shape: tuple[int, ...], rng: Rng) -> Floats:
        """Rows (..., D) whose columns have nothing to do with each other."""
        share, count = rng.random((*shape, self.values.shape[1])), len(self.values)
        out, order = np.empty_like(share), np.linspace(0.0, 1.0, count)
        for j, column in enumerate(self.schema.columns):
            if column.kind == "category":
                out[..., j] = self.values[(share[..., j] * count).astype(np.int64), j]
                continue
            drawn = np.interp(share[..., j], order, self.values[:, j])
            out[..., j] = np.rint(drawn) if column.kind == "integer" else drawn
        return out


def required(name: str, train: Dataset | None) -> Dataset:
    """The training set, or one sentence where there is none."""
    if train is None or len(train) == 0:
        raise JaliError(f"{name} learns from the rows the model was trained on, and none were given: pass train.")
    return train
