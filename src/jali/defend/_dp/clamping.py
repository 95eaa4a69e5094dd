"""How often noise on a probability is clamped."""

from __future__ import annotations

import numpy as np

from jali.core.values import Floats


def clamped(probability: Floats, scale: float, clamp: float = 1e-5) -> Floats:
    """The chance (n,) that a probability plus Laplace noise of this scale is clamped to [clamp, 1 - clamp].

    e^(-(p - clamp) / scale) / 2 + e^(-(1 - clamp - p) / scale) / 2 between the clamps.

    >>> clamped(np.array([0.5, 0.01]), 1.0).round(3)
    array([0.607, 0.681])
    """
    below = (clamp - probability) / scale
    above = (probability - 1 + clamp) / scale
    return np.asarray(_reached(below) + _reached(above))


def _reached(a: Floats) -> Floats:
    """The cumulative distribution function of standard Laplace noise."""
    tail = 0.5 * np.exp(-np.abs(a))
    return np.where(a < 0, tail, 1 - tail)
