"""Sums with Gaussian noise."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from jali.verify.zoo.exhibit import NEVER, Exhibit, Release

DELTA = 0.01
SHIFT = 2.0  # one replaced record moves a sum of values between -1 and 1 by at most this much
ENOUGH = SHIFT * math.sqrt(2 * math.log(1.25 / DELTA))  # the classical noise for epsilon = 1


def clipped_sum(sigma: float) -> Release:
    """The sum of a column, clipped to -1 and 1, with Gaussian noise."""
    return lambda data, _, rng: np.clip(data.X[:, 0], -1, 1).sum() + rng.normal(0, sigma)


def epsilon(sigma: float) -> float:
    """The exact epsilon of Gaussian noise at DELTA (Balle and Wang 2018).

    >>> epsilon(ENOUGH) < 1 < epsilon(ENOUGH / 2)
    True
    """
    mu = SHIFT / sigma

    def left(e: float) -> float:
        return float(ndtr(mu / 2 - e / mu) - math.exp(e) * ndtr(-mu / 2 - e / mu) - DELTA)

    return float(brentq(left, 0.0, 50.0)) if left(0.0) > 0 else 0.0


EXHIBITS = (
    Exhibit("Gaussian sum", clipped_sum(ENOUGH), epsilon(ENOUGH), delta=DELTA),
    Exhibit(
        "Gaussian sum, a third of the noise",
        clipped_sum(ENOUGH / 3),
        epsilon(ENOUGH / 3),
        "too little noise",
        delta=DELTA,
    ),
    Exhibit(
        "Gaussian sum, variance taken for deviation",
        clipped_sum(math.sqrt(ENOUGH)),
        epsilon(math.sqrt(ENOUGH)),
        "too little noise",
        delta=DELTA,
    ),
    Exhibit(
        "Gaussian sum, Rényi divergence of order 2 taken for epsilon",
        clipped_sum(SHIFT),
        epsilon(SHIFT),
        "wrong conversion",
        delta=DELTA,
    ),
    Exhibit("Gaussian sum, delta left out", clipped_sum(SHIFT), NEVER, "a claim without its delta"),
)
