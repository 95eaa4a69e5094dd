"""A table with a column of each kind, for contracts of parts that learn from people or know something of them."""

from __future__ import annotations

import numpy as np

from jali.core.values import Column, Dataset, Schema

SCHEMA = Schema(
    (
        Column("age", "integer", 18, 90, 45, 15, mutable=False, role="quasi"),
        Column("income", "number", 0, 200, 50, 25),
        Column("job", "category", categories=("a", "b", "c"), role="quasi"),
    ),
    favourable=1,
)


def people(n: int, seed: int = 0) -> Dataset:
    """So many people, whose outcome follows income and job."""
    rng = np.random.default_rng(seed)
    X = np.stack([rng.integers(18, 91, n), rng.uniform(0, 200, n), rng.integers(0, 3, n)], axis=1)
    y = (X[:, 1] / 50 + X[:, 2] + rng.normal(size=n) > 3).astype(int)
    return Dataset(X, y, SCHEMA)


def pictures(n: int, seed: int = 0) -> Dataset:
    """So many pictures of 4 × 4 pixels, bright or dark."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 16)) + y[:, None]
    return Dataset(X, y, Schema(tuple(Column(f"p{j}") for j in range(16)), image=(1, 4, 4)))


def streams(count: int, seed: int = 5) -> list[np.random.Generator]:
    """One stream per model."""
    return [np.random.default_rng([seed, j]) for j in range(count)]
