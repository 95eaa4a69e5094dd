"""Noise in whole numbers, and noise with an end."""

from __future__ import annotations

import math

import numpy as np

from jali.core.values import Dataset, Floats, Rng
from jali.verify.zoo.exhibit import NEVER, Exhibit, Release

END = 8.0  # where the truncated noise ends: at four times its scale


def _members(data: Dataset) -> int:
    """How many people are of class 1."""
    return int(np.count_nonzero(data.y == 1))


def geometric(epsilon: float) -> Release:
    """A count with the difference of two geometric numbers, the discrete form of Laplace noise."""
    stop = 1 - math.exp(-epsilon)
    return lambda data, _, rng: _members(data) + int(rng.geometric(stop)) - int(rng.geometric(stop))


def binomial(data: Dataset, query: Floats, rng: Rng) -> int:  # noqa: ARG001
    """A count with binomial noise of five trials: at either end one neighbour alone is possible."""
    return _members(data) + int(rng.binomial(5, 0.5))


def poisson(data: Dataset, query: Floats, rng: Rng) -> int:  # noqa: ARG001
    """A Poisson number with the count as its mean: nobody has no noise."""
    return int(rng.poisson(_members(data)))


def truncated(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """A clipped sum with Laplace noise that is drawn again beyond four times its scale."""
    noise = rng.laplace(0, END / 4)
    while abs(noise) > END:
        noise = rng.laplace(0, END / 4)
    return float(np.clip(data.X[:, 0], -1, 1).sum() + noise)


def staircase(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """A count with staircase noise for epsilon = 1, steps of one half (Geng and Viswanath 2014)."""
    shrink = math.exp(-1)
    step = rng.geometric(1 - shrink) - 1
    near = rng.random() < 1 / (1 + shrink)
    size = step + 0.5 * rng.random() + (0.0 if near else 0.5)
    return float(_members(data) + size * rng.choice([-1, 1]))


EXHIBITS = (
    Exhibit("geometric noise", geometric(1.0), 1.0),
    Exhibit("geometric noise for 1.6", geometric(1.6), 1.6, "too little noise"),
    Exhibit("staircase noise", staircase, 1.0),
    Exhibit("binomial noise of five trials", binomial, NEVER, "noise with an end"),
    Exhibit("a Poisson number", poisson, NEVER, "noise with an end"),
    Exhibit("truncated noise", truncated, NEVER, "noise with an end"),
)
