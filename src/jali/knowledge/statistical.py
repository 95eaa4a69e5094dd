"""Statistics of each column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.errors import JaliError
from jali.core.query import Whose
from jali.core.values import Dataset, Rng


@dataclass(frozen=True)
class Statistical:
    """Random rows, as many as there are outside the game, each column drawn independently from its distribution there.

    A number is its column's quantile at a uniform level, between two values by interpolation; a whole number is
    rounded; a category comes with its frequency. Neither dependences between columns nor labels are known.

    The statistics-based data of Shokri et al., 2017, as in Naretto, Monreale and Giannotti, 2024.

    >>> from jali.core.values import Column, Schema
    >>> data = Dataset(np.full((3, 1), 7.0), [0, 1, 0], Schema((Column("age"),)))
    >>> Statistical().know(data, np.random.default_rng(0)).X.tolist()
    [[7.0], [7.0], [7.0]]
    """

    whose: ClassVar[Whose] = "others"

    def know(self, rows: Dataset, rng: Rng) -> Dataset:
        """Rows of independent columns."""
        if not len(rows):
            raise JaliError("statistical: there are no rows to take statistics from: leave some outside the game.")
        X = np.empty(rows.X.shape)
        for j, column in enumerate(rows.schema.columns):
            if column.kind == "category":
                X[:, j] = rng.choice(rows.X[:, j], len(rows))
            else:
                drawn = np.quantile(rows.X[:, j], rng.random(len(rows)))
                X[:, j] = np.rint(drawn) if column.kind == "integer" else drawn
        return Dataset(X, np.zeros(len(rows), dtype=np.int64), rows.schema)
