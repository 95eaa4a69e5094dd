"""Records to be explained, and whom to ask about rows around them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jali.core.protocols import Model
from jali.core.values import Floats, Ints, Schema
from jali.explain._attribution.marginals import Marginals
from jali.explain.native.rows import judged

REACH = 4.0  # public spreads; numbers that far apart are as different as two categories


@dataclass(frozen=True, eq=False)
class Records:
    """Raw rows X (n, D) to be explained, the black box, and how the columns of other people are distributed."""

    model: Model
    X: Floats
    marginals: Marginals

    @property
    def schema(self) -> Schema:
        """What the columns mean."""
        return self.marginals.schema

    @cached_property
    def own(self) -> tuple[Floats, Ints]:
        """Probabilities (n, C) and labels (n,) of the records."""
        return judged(self.model, self.X)

    def ask(self, rows: Floats) -> tuple[Floats, Ints]:
        """Probabilities (..., C) and labels (...) of raw rows (..., D)."""
        chance, label = judged(self.model, rows.reshape(-1, rows.shape[-1]))
        return chance.reshape(*rows.shape[:-1], -1), label.reshape(rows.shape[:-1])

    def distance(self, rows: Floats) -> Floats:
        """How far (n, ...) from their record rows (n, ..., D) are, from 0 to 1: root mean square over columns.

        A column counts |x_j - z_j| / (4 public spreads), at most 1, or [x_j != z_j] for categories.
        """
        total = np.zeros(rows.shape[:-1])
        for j, column in enumerate(self.schema.columns):
            x = self.X[:, j].reshape(-1, *[1] * (rows.ndim - 2))
            if column.kind == "category":
                total += rows[..., j] != x
            else:
                total += np.minimum(np.abs(rows[..., j] - x) / (REACH * column.spread), 1.0) ** 2
        return np.asarray(np.sqrt(total / rows.shape[-1]))
