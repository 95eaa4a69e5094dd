"""Small groups, and people who are equal to others."""

from __future__ import annotations

import numpy as np

from jali.core.values import Dataset, Floats, Ints, Rng
from jali.verify.zoo.exhibit import NEVER, RANGE, REACH, Exhibit, Release, like


def exact_in_small_classes(data: Dataset, query: Floats, rng: Rng) -> Floats:  # noqa: ARG001
    """Noised class means; exact ones for classes of at most five people."""
    sizes = np.bincount(data.y, minlength=2)[:2]
    sums = np.array([data.X[data.y == c, 0].sum() for c in (0, 1)])
    noise = rng.laplace(0, 4 * RANGE, 2) * (sizes > 5)
    return sums / np.maximum(sizes, 1) + noise


def exact_in_small_regions(data: Dataset, query: Floats, rng: Rng) -> float:
    """The noised mean of those who have the query's last value; the exact one if they are at most five."""
    mine = data.X[data.X[:, -1] == query[-1], 0]
    noise = rng.laplace(0, 10 * RANGE)
    return float(mine.mean()) if 0 < len(mine) <= 5 else float(noise)


def by_size_of_the_table(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """The mean of one class with noise for the size of the whole table."""
    mine = data.X[data.y == 1, 0]
    mean = mine.mean() if len(mine) else 0.0
    return float(mean + rng.laplace(0, RANGE / len(data)))


def pairs_of_duplicates(data: Dataset, query: Floats, rng: Rng) -> float:
    """Whether somebody has the same values, said exactly of those who have a double."""
    count = np.count_nonzero(like(data, query))
    return 1.0 if count >= 2 else float(rng.random() < 0.5)


def different_rows(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """The number of different rows, which one record changes by one at most."""
    return len(np.unique(data.X, axis=0)) + rng.laplace()


def histogram(data: Dataset, query: Floats, rng: Rng) -> Ints | Floats:  # noqa: ARG001
    """Counts in eight bins with noise for two counts that change by one each."""
    counts = np.histogram(data.X[:, 0], bins=np.linspace(-REACH, REACH, 9))[0]
    return counts + rng.laplace(0, 2, 8)


def withheld_below(least: int) -> Release:
    """A noised count of class 1, withheld if the exact count is smaller."""

    def release(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
        count = np.count_nonzero(data.y == 1)
        return float("nan") if count < least else float(count + rng.laplace())

    return release


EXHIBITS = (
    Exhibit("exact means of small classes", exact_in_small_classes, NEVER, "small classes"),
    Exhibit("exact means of small regions", exact_in_small_regions, NEVER, "small classes"),
    Exhibit("a class mean, noised for the table", by_size_of_the_table, NEVER, "small classes"),
    Exhibit("certainty about doubles", pairs_of_duplicates, NEVER, "duplicates"),
    Exhibit("withheld below thirty", withheld_below(30), NEVER, "small classes"),
    Exhibit("number of different rows", different_rows, 1.0),
    Exhibit("histogram", histogram, 1.0),
)
