"""Mechanisms on a sample of the rows, and mechanisms that are run several times."""

from __future__ import annotations

import math

import numpy as np

from jali.core.values import Dataset, Floats, Rng
from jali.verify.zoo.exhibit import NEVER, Exhibit, Release

RATE = 0.5  # how many of the rows are sampled


def sampled(amplified: int) -> Release:
    """A count in a sample, with noise for epsilon = 1 after so many times the gain of sampling; once is right.

    A mechanism with e^epsilon = 1 + g has 1 + RATE g on a sample (Li, Qardaji and Su 2012).
    """
    scale = 1 / math.log(1 + (math.e - 1) / RATE**amplified)

    def release(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
        chosen = rng.random(len(data)) < RATE
        return float(np.count_nonzero(data.y[chosen] == 1) + rng.laplace(0, scale))

    return release


def half_of_the_rows(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """A count in a half of the rows, drawn without replacement, with noise for epsilon = 1 after the gain."""
    many = max(1, len(data) // 2)
    chosen = rng.permutation(len(data))[:many]
    inside = math.log(1 + (math.e - 1) * len(data) / many)
    return float(np.count_nonzero(data.y[chosen] == 1) + rng.laplace(0, 1 / inside))


def fixed_half(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """The same noise for every other row, always the same ones: nothing is gained."""
    inside = math.log(1 + (math.e - 1) / RATE)
    return float(np.count_nonzero(data.y[::2] == 1) + rng.laplace(0, 1 / inside))


def median_of_three(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """The median of three noised counts, each at epsilon = 1."""
    return float(np.count_nonzero(data.y == 1) + np.median(rng.laplace(size=3)))


def best_of_eight(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """The largest of eight noised counts, each at epsilon = 1."""
    return float(np.count_nonzero(data.y == 1) + rng.laplace(size=8).max())


def bootstrapped(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """The mean of rows drawn with replacement, as if that were noise."""
    return float(data.X[rng.integers(0, len(data), len(data)), 0].mean())


EXHIBITS = (
    Exhibit("a count in a sample", sampled(1), 1.0),
    Exhibit("a sample that counts twice", sampled(2), math.log(1 + (math.e - 1) / RATE), "amplification used twice"),
    Exhibit("a count in half of the rows", half_of_the_rows, 1.0),
    Exhibit("every other row as a sample", fixed_half, math.log(1 + (math.e - 1) / RATE), "sampling taken for noise"),
    Exhibit("the median of three", median_of_three, 2.0, "composition ignored"),
    Exhibit("the best of eight", best_of_eight, 8.0, "composition ignored"),
    Exhibit("a bootstrapped mean", bootstrapped, NEVER, "sampling taken for noise"),
)
