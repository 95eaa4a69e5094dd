"""Counts of many cells, of which the data say which are shown."""

from __future__ import annotations

import math

import numpy as np

from jali.core.values import Dataset, Floats, Rng
from jali.verify.zoo.exhibit import NEVER, REACH, Exhibit, Release

DELTA = 0.01
ENOUGH = 1 + 2 * math.log(2 / DELTA)  # below this, a cell of one person is shown too often (Korolova et al. 2009)


def stable(threshold: float) -> Release:
    """Noised counts of the values that occur in the last column, where they exceed a threshold."""

    def release(data: Dataset, query: Floats, rng: Rng) -> dict[float, float]:  # noqa: ARG001
        values, counts = np.unique(data.X[:, -1], return_counts=True)
        noised = counts + rng.laplace(0, 2, len(counts))
        return {float(v): float(c) for v, c in zip(values, noised, strict=True) if c > threshold}

    return release


def empty_without_noise(data: Dataset, query: Floats, rng: Rng) -> Floats:  # noqa: ARG001
    """Counts in sixteen bins, noised where there is anybody."""
    counts = np.histogram(data.X[:, 0], bins=np.linspace(-REACH, REACH, 17))[0]
    return np.where(counts > 0, counts + rng.laplace(0, 2, 16), 0.0)


def values_of_the_rows(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """A median by the exponential mechanism, among the values that occur."""
    known = np.unique(data.X[:, 0])
    score = -np.abs((data.X[:, :1] < known).sum(axis=0) - len(data) / 2)
    return float(known[np.argmax(score / 2 + rng.gumbel(size=len(known)))])


EXHIBITS = (
    Exhibit("counts above a threshold", stable(ENOUGH), 1.0, delta=DELTA),
    Exhibit("counts above a low threshold", stable(2.0), NEVER, "shape of the answer", delta=DELTA),
    Exhibit("empty bins without noise", empty_without_noise, NEVER, "shape of the answer"),
    Exhibit("a median among the values that occur", values_of_the_rows, NEVER, "candidates read from the data"),
)
