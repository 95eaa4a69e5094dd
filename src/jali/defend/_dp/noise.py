"""The noise distributions of the private trainers and explainers."""

from __future__ import annotations

import math

import numpy as np

from jali.core.values import Floats, Rng


def ball(count: int, width: int, scale: float, rng: Rng) -> Floats:
    """Vectors (count, width) with density proportional to exp(-||b|| / scale): direction uniform, length Gamma(width).

    >>> ball(2, 3, 1.0, np.random.default_rng(0)).shape
    (2, 3)
    """
    direction = rng.standard_normal((count, width))
    length = rng.gamma(width, scale, count) / np.linalg.norm(direction, axis=1)
    return np.asarray(direction * length[:, None])


def farthest(beta: float, width: int, scale: float) -> float:
    """The length that a vector drawn by `ball` exceeds with probability beta.

    >>> round(farthest(0.05, 1, 1.0), 4)  # one dimension: |Laplace| is exponential, ln 20
    2.9957
    """
    from scipy.stats import gamma

    return float(gamma.isf(beta, width, scale=scale))


def laplace(X: Floats, each: int, rng: Rng) -> Floats:
    """Standard Laplace noise (n, each) for records X (n, D), whatever the order of the records in the call.

    Noise is assigned in the order of the rows' contents. Equal rows get different draws.
    """
    out = np.empty((len(X), each))
    out[sorted(range(len(X)), key=lambda i: X[i].tobytes())] = rng.laplace(size=(len(X), each))
    return out


def shift(beta: float) -> float:
    """The value that standard Laplace noise exceeds with probability beta <= 1/2: ln(1 / (2 beta)).

    >>> round(shift(0.05), 4)
    2.3026
    """
    return math.log(1 / (2 * beta))
