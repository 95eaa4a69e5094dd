"""Statistics that one record moves further, or less far, than the noise assumes."""

from __future__ import annotations

import math

import numpy as np

from jali.core.values import Dataset, Floats, Rng
from jali.verify.zoo.exhibit import NEVER, RANGE, REACH, Exhibit, Release

BLOCKS = 5
DELTA = 0.01
BETA = 1 / (2 * math.log(2 / DELTA))  # how fast a smooth sensitivity may fall with the distance, at epsilon = 1
FAR_AWAY = 30  # changed records beyond which the sensitivity is taken to be the whole range


def variance(sensitivity: float) -> Release:
    """The variance with noise for a sensitivity over the number of rows; its own is the squared range."""
    return lambda data, _, rng: float(data.X[:, 0].var() + rng.laplace(0, sensitivity / len(data)))


def ratio(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """People of class 1 for each positive value, with noise for a share: few positive values make it jump."""
    positive = int(np.count_nonzero(data.X[:, 0] > 0))
    share = np.count_nonzero(data.y == 1) / max(1, positive)
    return float(share + rng.laplace(0, 1 / len(data)))


def rounded_before(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """A mean that is rounded to halves before noise for a mean is added: at the edge of a half it jumps."""
    return float(np.round(2 * data.X[:, 0].mean()) / 2 + rng.laplace(0, RANGE / len(data)))


def rounded_afterwards(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """The same, rounded after the noise."""
    return float(np.round(2 * (data.X[:, 0].mean() + rng.laplace(0, RANGE / len(data)))) / 2)


def _blocks(data: Dataset) -> list[Floats]:
    """The rows in five blocks, in their order; a block may be empty."""
    return [block for block in np.array_split(data.X[:, 0], BLOCKS) if len(block)]


def median_of_means(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """The median of the means of five blocks, with noise for the mean of all rows; a block of one row has nine."""
    return float(np.median([block.mean() for block in _blocks(data)]) + rng.laplace(0, RANGE / len(data)))


def mean_of_medians(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """The mean of the medians of five blocks, one of which a record moves (sample and aggregate)."""
    medians = [float(np.median(block)) for block in _blocks(data)]
    return float(np.sum(medians) / BLOCKS + rng.laplace(0, RANGE / BLOCKS))


def smooth(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """A median with noise for its smooth sensitivity (Nissim, Raskhodnikova and Smith 2007)."""
    ends = np.full(2 * FAR_AWAY + len(data), REACH)
    x = np.concatenate([-ends, np.sort(data.X[:, 0]), ends])
    middle = len(x) // 2
    largest = RANGE * math.exp(-BETA * FAR_AWAY)
    for away in range(FAR_AWAY):
        reach = x[middle : middle + away + 2] - x[middle - away - 1 : middle + 1]
        largest = max(largest, float(reach.max()) * math.exp(-BETA * away))
    return float(x[middle] + rng.laplace(0, 2 * largest))


EXHIBITS = (
    Exhibit("variance", variance(RANGE**2), 1.0),
    Exhibit("variance, noised as a mean", variance(RANGE), RANGE, "wrong sensitivity"),
    Exhibit("a ratio, noised as a share", ratio, NEVER, "wrong sensitivity"),
    Exhibit("a mean, rounded before the noise", rounded_before, NEVER, "wrong sensitivity"),
    Exhibit("a mean, rounded after the noise", rounded_afterwards, 1.0),
    Exhibit("median of block means, noised as a mean", median_of_means, 9.0, "wrong sensitivity"),
    Exhibit("mean of block medians", mean_of_medians, 1.0),
    Exhibit("smooth sensitivity of a median", smooth, 1.0, delta=DELTA),
)
