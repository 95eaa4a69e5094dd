"""The schema of a table and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from jali.core.errors import JaliError
from jali.core.query import Whose
from jali.core.values import Column, Dataset, Floats, Rng

WIDE = 3.0  # spreads from the centre at which a column without bounds is cut off


@dataclass(frozen=True)
class Random:
    """Random rows from the number, kind and bounds of the columns: the weakest knowledge without training rows.

    As many rows as there are outside the game; every value is uniform between the bounds of its column or among its
    categories. A missing bound is three public spreads from the public centre. There are no labels.

    With values="normal" numbers are normal with the public centre and spread of their column and brought back to its
    bounds: what somebody draws who knows of standardised columns only how many there are. Where a few values lie far
    from all others, uniform rows lie there too, and a model may give all of them one class.

    Shokri et al., 2017; Naretto, Monreale and Giannotti, 2024, who do not say how values are drawn.

    >>> from jali.core.values import Schema
    >>> data = Dataset(np.zeros((3, 1)), [0, 1, 0], Schema((Column("age", "integer", 18, 20),)))
    >>> Random().know(data, np.random.default_rng(0)).X.ravel().tolist()
    [20.0, 19.0, 19.0]
    """

    values: Literal["uniform", "normal"] = "uniform"
    whose: ClassVar[Whose] = "others"

    def __post_init__(self) -> None:
        if self.values not in ("uniform", "normal"):
            raise JaliError(f"random: values must be uniform or normal, not {self.values!r}.")

    def know(self, rows: Dataset, rng: Rng) -> Dataset:
        """Rows that have nothing of the given ones but their number."""
        one = _uniform if self.values == "uniform" else _normal
        drawn = [one(column, len(rows), rng) for column in rows.schema.columns]
        return Dataset(np.stack(drawn, axis=1), np.zeros(len(rows), dtype=np.int64), rows.schema)


def _uniform(column: Column, count: int, rng: Rng) -> Floats:
    """Random values (count,) of a column."""
    if column.kind == "category":
        return rng.integers(len(column.categories), size=count).astype(np.float64)
    low = column.low if np.isfinite(column.low) else column.centre - WIDE * column.spread
    high = column.high if np.isfinite(column.high) else column.centre + WIDE * column.spread
    if column.kind == "integer":
        return rng.integers(int(np.ceil(low)), int(np.floor(high)), size=count, endpoint=True).astype(np.float64)
    return rng.uniform(low, high, count)


def _normal(column: Column, count: int, rng: Rng) -> Floats:
    """Normal values (count,) of a column, within its bounds; categories are uniform."""
    if column.kind == "category":
        return _uniform(column, count, rng)
    drawn = rng.normal(column.centre, column.spread, count)
    whole = np.round(drawn) if column.kind == "integer" else drawn
    return np.asarray(np.clip(whole, column.low, column.high))
