"""Pictures whose class can be seen: a bright bar in another place for each class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.core.values import Dataset, Schema
from jali.data.tables.images import pixels


def bars(n=90, size=8, channels=1, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    images = rng.integers(0, 120, (n, channels, size, size)).astype(float)
    for row, label in zip(images, y, strict=True):
        row[:, :, 1 + 2 * label] += 100
    schema = Schema(pixels(channels, size), ("left", "middle", "right"), image=(channels, size, size))
    return Dataset(images.reshape(n, -1), y, schema)


@dataclass(frozen=True)
class Bars:
    """Public pictures of the same kind."""

    n: int = 60
    size: int = 8

    def load(self) -> Dataset:
        return bars(self.n, self.size, seed=9)


def streams(m):
    return [np.random.default_rng(j) for j in range(m)]


def members(n, m):
    return np.random.default_rng(1).random((n, m)) < 0.6
