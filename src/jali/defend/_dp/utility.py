"""What noise does to recourse, besides what `jali.measures` says of any recourse (validity, cost)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Floats

LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)


def clamped(probability: Floats, scale: float, clamp: float = 1e-5) -> Floats:
    """Chance (n,) that a probability with Laplace noise of this scale is cut to [clamp, 1 - clamp].

    e^(-(p - clamp) / scale) / 2 + e^(-(1 - clamp - p) / scale) / 2 between the clamps.

    >>> clamped(np.array([0.5, 0.01]), 1.0).round(3)
    array([0.607, 0.681])
    """
    below, above = (clamp - probability) / scale, (probability - 1 + clamp) / scale
    return np.asarray(_reached(below) + _reached(above))


def _reached(a: Floats) -> Floats:
    """Distribution function of the standard Laplace law."""
    tail = 0.5 * np.exp(-np.abs(a))
    return np.where(a < 0, tail, 1 - tail)


class Shift(NamedTuple):
    """Quantiles (at LEVELS) of distances without and with a defence, and the largest gap between their laws."""

    plain: tuple[float, ...]
    defended: tuple[float, ...]
    gap: float


def shift_of_distances(plain: Floats, defended: Floats) -> Shift:
    """How a defence changes the law of recourse distances: plain (n,) and defended (m,), where answers were given.

    The gap is the Kolmogorov-Smirnov distance: 0 for equal laws, 1 for disjoint ones.

    >>> shift_of_distances(np.array([1.0, 2.0]), np.array([2.5, 4.0])).gap
    1.0
    """
    if not (len(plain) and len(defended)):
        raise JaliError("Distances are compared where answers were given, and one side has none.")
    both = np.sort(np.concatenate([plain, defended]))
    share = [np.searchsorted(np.sort(side), both, side="right") / len(side) for side in (plain, defended)]
    quantiles = [tuple(np.quantile(side, LEVELS).tolist()) for side in (plain, defended)]
    return Shift(quantiles[0], quantiles[1], float(np.abs(share[0] - share[1]).max()))
