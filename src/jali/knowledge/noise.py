"""Noisy rows of the same population."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.query import Whose
from jali.core.values import Dataset, Rng


@dataclass(frozen=True)
class Noise:
    """Noisy rows of other people of the population: the strongest knowledge of an adversary without the training rows.

    Numbers get noise N(0, (share sd)^2), with the standard deviation of their column, and are brought back to
    legal values; a category is replaced by another one, drawn uniformly, with probability share. Labels stay.

    Shokri et al., 2017; Naretto, Monreale and Giannotti, 2024, who state 10 % of noise but not its form.

    >>> import numpy as np
    >>> from jali.core.values import Column, Schema
    >>> data = Dataset(np.arange(4.0)[:, None], [0, 1, 0, 1], Schema((Column("age", "integer", 0, 3),)))
    >>> Noise(share=0.0).know(data, np.random.default_rng(0)).X.tolist() == data.X.tolist()
    True
    """

    share: float = 0.1
    whose: ClassVar[Whose] = "others"

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise JaliError(f"noise: share must lie between 0 and 1, not {self.share}.")

    def know(self, rows: Dataset, rng: Rng) -> Dataset:
        """The rows with noise."""
        X = rows.X + rng.normal(size=rows.X.shape) * (self.share * rows.X.std(axis=0) if len(rows) else 0.0)
        for j, column in enumerate(rows.schema.columns):
            if column.kind == "category":
                wrong = rng.random(len(rows)) < self.share
                other = rng.integers(1, max(2, len(column.categories)), len(rows))
                X[:, j] = (rows.X[:, j] + wrong * other) % len(column.categories)
        encoding = Encoding(rows.schema)
        return Dataset(encoding.decode(encoding.encode(X)), rows.y, rows.schema)
