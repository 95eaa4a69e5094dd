"""The direction of recourse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.values import Floats, Schema, Seen
from jali.signals._vectors import few, per_column


@dataclass(frozen=True)
class RecourseDirection:
    """How much of the way to the counterfactual each column takes; only combined attacks read it.

    t_j = m_j / ||m||_2, m the move z' - z in encoded features; of a category half the sum of the absolute moves of its
    features, which is 1 where it changes. Tables of more than `most` columns are read along that many random
    directions.

    After Pawelczyk, Lakkaraju and Neel, On the Privacy Risks of Algorithmic Recourse, AISTATS 2023: its length.

    >>> from jali.core.explanation import Counterfactual
    >>> from jali.core.values import Column
    >>> moved = Counterfactual(np.array([[3.0, -4.0]]), np.array([True]))
    >>> seen = {"x": lambda: np.zeros((1, 2)), "counterfactual": lambda: moved, "encode": lambda: np.asarray}
    >>> RecourseDirection()(Seen(seen | {"schema": lambda: Schema((Column("a"), Column("b")))}))
    array([[ 0.6, -0.8]])
    """

    most: int = 32
    needs: ClassVar[frozenset[str]] = frozenset({"x", "counterfactual", "encode", "schema"})

    def width(self, schema: Schema) -> int:
        """Numbers per record."""
        return min(self.most, len(schema.columns))

    def __call__(self, seen: Seen) -> Floats:
        """Shares of the move (n, W)."""
        move = seen.encode(seen.counterfactual.rows) - seen.encode(seen.x)
        length = np.maximum(np.linalg.norm(move, axis=1, keepdims=True), 1e-12)
        category = np.array([column.kind == "category" for column in seen.schema.columns])
        signed = per_column(move, seen.schema)
        changed = per_column(np.abs(move), seen.schema) / 2
        return few(np.where(category, changed, signed) / length, self.most)
