"""Records to be explained, with the black box that labels rows around them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jali.core.protocols import Model
from jali.core.values import Floats, Ints, Schema
from jali.explain._attribution.marginals import Marginals
from jali.explain.native.rows import predictions

REACH = 4.0  # spreads of the schema; numbers this far apart differ as much as two categories


@dataclass(frozen=True, eq=False)
class Records:
    """Raw rows X (n, D) to be explained, the black box, and the marginal distributions of the training rows."""

    model: Model
    X: Floats
    marginals: Marginals

    @property
    def schema(self) -> Schema:
        """The schema of the rows."""
        return self.marginals.schema

    @cached_property
    def own(self) -> tuple[Floats, Ints]:
        """Predicted probabilities (n, C) and labels (n,) of the records."""
        return predictions(self.model, self.X)

    def ask(self, rows: Floats) -> tuple[Floats, Ints]:
        """Predicted probabilities (..., C) and labels (...) of raw rows (..., D)."""
        chance, label = predictions(self.model, rows.reshape(-1, rows.shape[-1]))
        return chance.reshape(*rows.shape[:-1], -1), label.reshape(rows.shape[:-1])

    def distance(self, rows: Floats) -> Floats:
        """Distance (n, ...) of rows (n, ..., D) from their record, from 0 to 1: root mean square over columns.

        A column counts |x_j - z_j| / (4 spreads), at most 1, or [x_j != z_j] for categories.
        """
        total = np.zeros(rows.shape[:-1])
        for j, column in enumerate(self.schema.columns):
            x = self.X[:, j].reshape(-1, *[1] * (rows.ndim - 2))
            if column.kind == "category":
                total += rows[..., j] != x
            else:
                total += np.minimum(np.abs(rows[..., j] - x) / (REACH * column.spread), 1.0) ** 2
        return np.asarray(np.sqrt(total / rows.shape[-1]))
