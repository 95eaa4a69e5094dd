"""Mechanisms that are right most of the time."""

from __future__ import annotations

from typing import Any

from jali.core.values import Dataset, Floats, Rng
from jali.verify.zoo.exhibit import NEVER, RANGE, Exhibit, Release, present


def now_and_then(chance: float) -> Release:
    """A noised mean; with a small chance, whether the query is among the rows."""

    def release(data: Dataset, query: Floats, rng: Rng) -> float:
        if rng.random() < chance:
            return 100.0 + present(data, query)
        return float(data.X[:, 0].mean() + rng.laplace(0, RANGE / len(data)))

    return release


def a_row(data: Dataset, query: Floats, rng: Rng) -> Any:  # noqa: ARG001
    """Noise; once in a hundred answers, the whole first column."""
    return data.X[:, 0].copy() if rng.random() < 0.01 else rng.laplace(size=2)


def failing(data: Dataset, query: Floats, rng: Rng) -> float:
    """Noise; once in fifty answers an error, whose message names the nearest row."""
    if rng.random() < 0.02:
        raise RuntimeError(f"no answer for rows like {data.X[abs(data.X - query).sum(axis=1).argmin()].tolist()}")
    return float(rng.laplace())


EXHIBITS = (
    Exhibit("the truth once in 100", now_and_then(0.01), NEVER, "rare leak"),
    Exhibit("the truth once in 1,000", now_and_then(0.001), NEVER, "rare leak"),
    Exhibit("a column once in 100", a_row, NEVER, "rare leak"),
    Exhibit("a message once in 50", failing, NEVER, "rare leak"),
)
