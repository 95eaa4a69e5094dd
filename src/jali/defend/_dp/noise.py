"""Noise of the private trainers and explainers: which record gets which draw, and how far noise reaches."""

from __future__ import annotations

import math

import numpy as np

from jali.core.values import Floats, Ints, Rng
from jali.privacy.discrete_noise import laplace_each
from jali.privacy.snapped_noise import Grid


def farthest(beta: float, width: int, scale: float) -> float:
    """The length that a vector drawn by `ball` exceeds with probability beta.

    >>> round(farthest(0.05, 1, 1.0), 4)  # one dimension: |Laplace| is exponential, ln 20
    2.9957
    """
    from scipy.stats import gamma

    return float(gamma.isf(beta, width, scale=scale))


def laplace(X: Floats, scale: Ints, rng: Rng) -> Ints:
    """Whole Laplace noise (n, each) of these scales for records X (n, D), whatever the order of records in the call.

    Noise is drawn in the order of the rows' contents. Equal rows get different draws.
    """
    order = sorted(range(len(X)), key=lambda i: X[i].tobytes())
    out = np.empty(scale.shape, dtype=np.int64)
    out[order] = laplace_each(scale[order], rng)
    return out


def noised(X: Floats, value: Floats, grid: Grid, rng: Rng) -> Floats:
    """Values (n, each) of records X (n, D) on their grid, each released with the epsilon of the grid."""
    drawn = laplace(X, grid.scale(), rng)
    # Where nothing can move a value there is nothing to hide.
    return np.where(grid.sensitivity > 0, (grid.whole(value) + drawn) * grid.step, value)


def shift(beta: float) -> float:
    """The value that standard Laplace noise exceeds with probability beta <= 1/2: ln(1 / (2 beta)).

    >>> round(shift(0.05), 4)
    2.3026
    """
    return math.log(1 / (2 * beta))
