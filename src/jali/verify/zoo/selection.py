"""Choices among candidates by noisy scores."""

from __future__ import annotations

import numpy as np

from jali.core.values import Dataset, Floats, Ints, Rng
from jali.verify.zoo.exhibit import NEVER, REACH, Exhibit, Release

GRID = np.linspace(-REACH, REACH, 17)


def _votes(data: Dataset) -> Ints:
    """How many rows lie in each of four parts of the range."""
    part = ((data.X[:, 0] + REACH) / (REACH / 2)).astype(np.int64)
    return np.bincount(np.minimum(part, 3), minlength=4)


def fullest(factor: float) -> Release:
    """The fullest part by the exponential mechanism, exp(factor * votes); one half is right for epsilon = 1."""
    return lambda data, _, rng: int(np.argmax(factor * _votes(data) + rng.gumbel(size=4)))


def majority(factor: float) -> Release:
    """The most frequent class by the exponential mechanism."""

    def release(data: Dataset, query: Floats, rng: Rng) -> int:  # noqa: ARG001
        votes = np.bincount(data.y, minlength=len(data.schema.classes))
        return int(np.argmax(factor * votes + rng.gumbel(size=len(votes))))

    return release


def noisy_maximum(scale: float) -> Release:
    """The fullest part by votes with Laplace noise; a scale of 2 is right for epsilon = 1."""
    return lambda data, _, rng: int(np.argmax(_votes(data) + rng.laplace(0, scale, size=4)))


def permute_and_flip(data: Dataset, query: Floats, rng: Rng) -> int:  # noqa: ARG001
    """The fullest part by coins in random order (McKenna and Sheldon 2020), at epsilon = 1."""
    votes = _votes(data)
    order = rng.permutation(len(votes))
    heads = rng.random(len(votes)) < np.exp((votes[order] - votes.max()) / 2)
    return int(order[heads.argmax()])


def middle(factor: float) -> Release:
    """A median among seventeen values by the exponential mechanism; scores change by one at most."""

    def release(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
        below = (data.X[:, :1] < GRID).sum(axis=0)
        above = (data.X[:, :1] > GRID).sum(axis=0)
        return float(GRID[np.argmax(-factor * np.abs(below - above) / 2 + rng.gumbel(size=len(GRID)))])

    return release


def winner_of_a_tie(data: Dataset, query: Floats, rng: Rng) -> int:  # noqa: ARG001
    """The most frequent class, without noise; ties are broken at random."""
    votes = np.bincount(data.y, minlength=2)
    return int(rng.choice(np.flatnonzero(votes == votes.max())))


EXHIBITS = (
    Exhibit("exponential mechanism", fullest(0.5), 1.0),
    Exhibit("exponential mechanism without its half", fullest(1.0), 2.0, "missing factor of one half"),
    Exhibit("majority class", majority(0.5), 1.0),
    Exhibit("majority class without its half", majority(1.0), 2.0, "missing factor of one half"),
    Exhibit("noisy maximum", noisy_maximum(2.0), 1.0),
    Exhibit("noisy maximum, a fifth of the noise", noisy_maximum(0.4), 5.0, "too little noise"),
    Exhibit("permute and flip", permute_and_flip, 1.0),
    Exhibit("median of a grid", middle(0.5), 1.0),
    Exhibit("winner of a tie", winner_of_a_tie, NEVER, "no noise unless there is a tie"),
)
