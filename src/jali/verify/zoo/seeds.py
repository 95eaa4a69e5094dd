"""Noise that can be repeated."""

from __future__ import annotations

import zlib

import numpy as np

from jali.core.values import Dataset, Floats, Rng
from jali.verify.zoo.exhibit import NEVER, RANGE, Exhibit, Release


def of_the_data(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """Noise seeded by the rows."""
    own = np.random.default_rng(zlib.crc32(data.X.tobytes()))
    return float(data.X[:, 0].mean() + own.laplace(0, RANGE / len(data)))


def constant(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """Noise with a fixed seed."""
    return float(data.X[:, 0].mean() + np.random.default_rng(7).laplace(0, RANGE / len(data)))


def one_of_twenty(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """Noise with one of twenty seeds."""
    own = np.random.default_rng(int(rng.integers(20)))
    return float(data.X[:, 0].mean() + own.laplace(0, RANGE / len(data)))


def published(many: int) -> Release:
    """A count with noise from one of so many seeds, which is given beside it: whoever has the code can subtract it."""

    def release(data: Dataset, query: Floats, rng: Rng) -> list[float]:  # noqa: ARG001
        seed = int(rng.integers(many))
        return [float(seed), float(np.count_nonzero(data.y == 1) + np.random.default_rng(seed).laplace())]

    return release


EXHIBITS = (
    Exhibit("noise seeded by the rows", of_the_data, NEVER, "seeded noise"),
    Exhibit("noise with a fixed seed", constant, NEVER, "seeded noise"),
    Exhibit("noise with one of twenty seeds", one_of_twenty, NEVER, "seeded noise"),
    Exhibit("noise with a published seed, one of 500", published(500), NEVER, "seeded noise"),
    Exhibit("noise with a published seed", published(2**31), NEVER, "seeded noise"),
)
