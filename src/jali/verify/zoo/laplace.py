"""Means, medians and counts with Laplace noise."""

from __future__ import annotations

import numpy as np

from jali.core.values import Dataset, Floats, Rng
from jali.verify.zoo.exhibit import NEVER, RANGE, Exhibit, Release, present


def mean(share: float) -> Release:
    """The mean of a column, with a share of the noise that epsilon = 1 needs."""
    return lambda data, _, rng: data.X[:, 0].mean() + rng.laplace(0, share * RANGE / len(data))


def positives(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """The number of people of class 1."""
    return np.count_nonzero(data.y == 1) + rng.laplace()


def median(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """The median, with noise for its own sensitivity: the whole range."""
    return float(np.median(data.X[:, 0]) + rng.laplace(0, RANGE))


def median_as_mean(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """The median, with noise for the sensitivity of a mean."""
    return float(np.median(data.X[:, 0]) + rng.laplace(0, RANGE / len(data)))


def column_means(data: Dataset, query: Floats, rng: Rng) -> Floats:  # noqa: ARG001
    """The means of all columns, with noise for all of them together."""
    n, d = data.X.shape
    return np.asarray(data.X.mean(axis=0) + rng.laplace(0, d * RANGE / n, d))


def column_means_each(data: Dataset, query: Floats, rng: Rng) -> Floats:  # noqa: ARG001
    """The means of all columns, each with noise for one alone."""
    n, d = data.X.shape
    return np.asarray(data.X.mean(axis=0) + rng.laplace(0, RANGE / n, d))


def largest(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """The maximum, with noise for a count."""
    return float(data.X[:, 0].max() + rng.laplace())


def one_noise_for_all(data: Dataset, query: Floats, rng: Rng) -> Floats:
    """Two numbers with the same noise: their difference has none."""
    noise = rng.laplace()
    return np.array([present(data, query) + noise, noise])


EXHIBITS = (
    Exhibit("mean", mean(1.0), 1.0),
    Exhibit("mean, 0.7 of the noise", mean(0.7), 1 / 0.7, "too little noise"),
    Exhibit("mean, half the noise", mean(0.5), 2.0, "too little noise"),
    Exhibit("count", positives, 1.0),
    Exhibit("median", median, 1.0),
    Exhibit("median, noised as a mean", median_as_mean, NEVER, "wrong sensitivity"),
    Exhibit("column means", column_means, 1.0),
    Exhibit("column means, noised one by one", column_means_each, NEVER, "wrong sensitivity"),
    Exhibit("maximum, noised as a count", largest, RANGE, "wrong sensitivity"),
    Exhibit("two numbers, one noise", one_noise_for_all, NEVER, "noise used twice"),
)
