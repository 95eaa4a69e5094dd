"""The logistic function, in one place, because stored answers depend on it to the last bit."""

from __future__ import annotations

import numpy as np

from jali.core.values import Floats


def sigmoid(a: Floats) -> Floats:
    """1 / (1 + e^-a), without overflow; it differs from scipy.special.expit in the last bit of one value in two.

    >>> sigmoid(np.array([0.0, -800.0]))
    array([0.5, 0. ])
    """
    return np.asarray(0.5 * (1 + np.tanh(0.5 * a)))
