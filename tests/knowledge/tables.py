"""One table with a column of each kind, two of them in step."""

from __future__ import annotations

import numpy as np

from jali.core.values import Column, Dataset, Schema

SCHEMA = Schema(
    (
        Column("age", "integer", 18, 90),
        Column("city", "category", categories=("a", "b", "c")),
        Column("income", "number", 0.0, centre=5.0, spread=2.0),
        Column("one", "category", categories=("only",)),
    )
)


def table(n: int = 4000) -> Dataset:
    rng = np.random.default_rng(0)
    age = rng.integers(18, 91, n)
    X = np.stack([age, rng.choice(3, n, p=[0.6, 0.3, 0.1]), age / 9 + rng.exponential(1, n), np.zeros(n)], axis=1)
    return Dataset(X, (age > 50).astype(int), SCHEMA)


def assert_legal(data: Dataset) -> None:
    X = data.X
    assert (np.rint(X[:, 0]) == X[:, 0]).all()
    assert X[:, 0].min() >= 18
    assert X[:, 0].max() <= 90
    assert set(np.unique(X[:, 1])) <= {0, 1, 2}
    assert X[:, 2].min() >= 0
    assert not X[:, 3].any()
