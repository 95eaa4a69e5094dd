"""Noise whose possible values give the exact result away."""

from __future__ import annotations

import math

import numpy as np

from jali.core.values import Dataset, Floats, Rng
from jali.verify.zoo.exhibit import NEVER, RANGE, Exhibit

STOP = 1 - math.exp(-1)
# The larger side of the ratio of two truncated laws, for counts of nobody and of one person at an answer of 0.
REDRAWN = math.log(2 * math.e * (1 - math.exp(-1) / 2))


def _members(data: Dataset) -> int:
    """How many people are of class 1."""
    return int(np.count_nonzero(data.y == 1))


def never_zero(data: Dataset, query: Floats, rng: Rng) -> int:  # noqa: ARG001
    """A count with geometric noise that is drawn again if it is zero: the true count is the one that never comes."""
    noise = 0
    while noise == 0:
        noise = int(rng.geometric(STOP)) - int(rng.geometric(STOP))
    return _members(data) + noise


def one_decimal(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """A mean with noise of one decimal place: all further places are those of the mean."""
    return float(data.X[:, 0].mean() + np.round(rng.laplace(0, RANGE / len(data)), 1))


def uniform(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """A count with uniform noise, twenty wide."""
    return float(_members(data) + rng.uniform(-10, 10))


def redrawn(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """A noised count that is drawn again below zero: how often depends on the count."""
    answer = -1.0
    while answer < 0:
        answer = float(_members(data) + rng.laplace())
    return answer


EXHIBITS = (
    Exhibit("noise that is never zero", never_zero, NEVER, "noise with gaps"),
    Exhibit("noise of one decimal", one_decimal, NEVER, "noise with gaps"),
    Exhibit("uniform noise", uniform, NEVER, "noise with an end"),
    Exhibit("a noised count, drawn again below zero", redrawn, REDRAWN, "noise with an end"),
)
