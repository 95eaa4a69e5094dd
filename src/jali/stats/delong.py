"""DeLong's interval of an AUC and of a paired difference of AUCs, in O(n log n).

DeLong, DeLong and Clarke-Pearson (1988); that one sort is enough was shown by Sun and Xu (2014).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtri

from jali.core.values import Bools, Estimate, Floats
from jali.stats.roc import checked, steps

TOO_FEW = "An interval needs at least two members and two non-members."


def placements(score: Floats, truth: Bools) -> tuple[Floats, Floats]:
    """Placement of each member (m,) and each non-member (n,) against the other class; the mean of either is the AUC.

    A member's value is the share of non-members below it, a non-member's the share of members above it; ties half.

    >>> placements(np.array([3.0, 2.0, 2.0, 1.0]), np.array([True, True, False, False]))
    (array([1.  , 0.75]), array([0.75, 1.  ]))
    """
    score, truth = checked(score, truth)
    fp, tp, thresholds = steps(score, truth)
    group = np.searchsorted(-thresholds[1:], -score)
    of_members = 1.0 - (fp[group] + fp[group + 1])[truth] / (2 * fp[-1])
    of_others = (tp[group] + tp[group + 1])[~truth] / (2 * tp[-1])
    return of_members, of_others


def delong(score: Floats, truth: Bools, level: float = 0.95) -> Estimate:
    """AUC of one model with DeLong's normal interval, clipped to [0, 1].

    Variance = var(placements of members) / m + var(placements of non-members) / n. It is zero when the classes are
    separated without error; then min(m, n) disjoint pairs, all in order, bound the AUC: low = ((1 - level)/2)^(1/min).

    >>> e = delong(np.arange(8.0), np.array([0, 0, 1, 0, 1, 0, 1, 1], dtype=bool))
    >>> round(e.value, 4), round(e.low, 4), e.high
    (0.8125, 0.4808, 1.0)
    """
    of_members, of_others = placements(score, truth)
    value = float(of_members.mean())
    pairs = min(len(of_members), len(of_others))
    if pairs < 2:
        return Estimate(value, units=1, reason=TOO_FEW)
    half = _half_width(of_members, of_others, level)
    certain = ((1 - level) / 2) ** (1 / pairs)
    low = certain if value == 1.0 else max(0.0, value - half)
    high = 1.0 - certain if value == 0.0 else min(1.0, value + half)
    return Estimate(value, low, high, 1)


def delong_difference(score_a: Floats, score_b: Floats, truth: Bools, level: float = 0.95) -> Estimate:
    """AUC of `score_a` minus AUC of `score_b` on the same guesses, with DeLong's paired normal interval.

    The variance is that of the differences of placements, record by record, so the variance that both share cancels.

    >>> score, truth = np.arange(8.0), np.array([0, 0, 1, 0, 1, 0, 1, 1], dtype=bool)
    >>> delong_difference(score, score**2, truth).high
    0.0
    """
    pairs = zip(placements(score_a, truth), placements(score_b, truth), strict=True)
    of_members, of_others = (a - b for a, b in pairs)
    value = float(of_members.mean())
    if min(len(of_members), len(of_others)) < 2:
        return Estimate(value, units=1, reason=TOO_FEW)
    half = _half_width(of_members, of_others, level)
    return Estimate(value, max(-1.0, value - half), min(1.0, value + half), 1)


def _half_width(of_members: Floats, of_others: Floats, level: float) -> float:
    variance = of_members.var(ddof=1) / len(of_members) + of_others.var(ddof=1) / len(of_others)
    return float(ndtri((1 + level) / 2) * math.sqrt(variance))
