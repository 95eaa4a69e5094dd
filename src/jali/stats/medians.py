"""The median over target models, which a few of them that are far off do not move."""

from __future__ import annotations

import numpy as np
from scipy.stats import binom

from jali.core.errors import JaliError
from jali.core.guesses import Estimate
from jali.core.values import Floats


def median_over_units(values: Floats, level: float = 0.95) -> Estimate:
    """Median of one value per target model (T,) with the interval between two of the sorted values.

    The median of the population lies below the r-th smallest value with probability P(B < r), B binomial (T, 1/2),
    and as often above the r-th largest: r is the largest with P(B < r) <= (1 - level) / 2. The interval covers at
    least that often whatever the distribution; fewer than six targets cannot have one at 95 %.

    >>> median_over_units(np.array([0.3, 0.1, 0.2, 0.4, 0.9, 0.5]))
    Estimate(value=0.35, low=0.1, high=0.9, units=6, reason='')
    """
    ranked = np.sort(np.asarray(values, dtype=np.float64))
    units = len(ranked)
    if ranked.ndim != 1 or units == 0 or not np.isfinite(ranked).all():
        raise JaliError("A median over target models needs one finite value per target model.")
    value = float(np.median(ranked))
    r = _rank(units, level)
    if r == 0:
        reason = f"An interval of a median at {100 * level:g} % needs more than {units} target models."
        return Estimate(value, units=units, reason=reason)
    return Estimate(value, float(ranked[r - 1]), float(ranked[units - r]), units)


def _rank(units: int, level: float) -> int:
    """The largest r with P(B < r) <= (1 - level) / 2; 0 where there is none."""
    below = binom.cdf(np.arange(units), units, 0.5)
    return int((below <= (1 - level) / 2).sum())
