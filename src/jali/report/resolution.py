"""What an audit could have found: how large a difference has to be before its interval leaves zero."""

from __future__ import annotations

import math

from scipy.special import ndtri, stdtrit

from jali.core.metrics import metric
from jali.results import DIFFERENCES, Row

LEVEL, POWER = 0.95, 0.8
MODELS = 8  # below so many target models, what a rate of few false positives could have shown is not known
OFTEN = "four times in five"  # POWER in words, where it is foreseen from an interval
IN_TEN = "8 of 10"  # POWER in words, where the positive control measured it
SMALL = 0.02  # an audit that cannot find so much in AUC is too small to tell what an explanation adds
# Half of an interval is z_0.975 standard errors; z_0.975 + z_0.8 of them are found with a probability of 80 %.
FACTOR = float((ndtri((1 + LEVEL) / 2) + ndtri(POWER)) / ndtri((1 + LEVEL) / 2))
NO_SPREAD = 1e-9  # an interval this narrow comes from guesses that do not differ, not from many of them


def could_have_found(value: float, low: float, high: float) -> float | None:
    """The difference from which on this audit would have found one, four times in five; None where nobody can say.

    x = max(high, (z_0.975 + z_0.8) / z_0.975 h) with h the longer half of the 95 % interval of the difference: a true
    difference of x has an interval above zero with a probability of 80 % or more, and none that the interval still
    allows is larger. Small numbers of target models make h longer than z_0.975 standard errors, so x is on the large
    side. This is about chance alone: how strong the attack is does not enter.

    >>> round(could_have_found(0.001, -0.009, 0.011), 4)
    0.0143
    >>> could_have_found(0.008, -0.002, 0.018)
    0.018
    >>> could_have_found(0.0, 0.0, 0.0) is None
    True
    """
    half = max(value - low, high - value)
    return None if half <= NO_SPREAD else max(high, FACTOR * half)


def addition_found(row: Row, baseline: Row | None = None) -> float | None:
    """The addition in AUC from which on this audit would have found one: None if unknown, infinite if none is possible.

    x = max(high, detectable): what the positive control says is found in 8 of 10 audits like this, and no less than
    what the interval still allows. No more can be added than the baseline leaves.

    >>> addition_found(Row(kind="contrast", metric="auc", value=0.0, low=-0.01, high=0.01, detectable=0.012))
    0.012
    """
    if row.value is None or row.high is None or row.detectable is None:
        return None
    found = max(row.high, row.detectable)
    return found if found < room(row, baseline) else math.inf


def room(row: Row, baseline: Row | None) -> float:
    """How much can be added: what the baseline leaves of the metric's upper bound."""
    most = metric(row.metric).high
    return most if baseline is None or baseline.value is None else most - baseline.value


def low_of_best(row: Row, tried: int) -> float:
    """The lower end of the interval of an attack that was the best of so many tried: with Bonferroni's level.

    value - (value - low) q(0.05 / tried) / q(0.05), with q the two-sided quantile of t over target models, or of normal
    numbers where there is one.

    >>> round(low_of_best(Row(kind="attack", metric="auc", value=0.53, low=0.51, high=0.55, units=16), 20), 3)
    0.496
    """
    if row.value is None or row.low is None:
        return -math.inf
    tails = [1 - (1 - LEVEL) / 2 / many for many in (max(tried, 1), 1)]
    wide, usual = (float(ndtri(t) if row.units < 2 else stdtrit(row.units - 1, t)) for t in tails)
    return row.value - (row.value - row.low) * wide / usual


def needed(now: int, found: float) -> int:
    """How many people or models it takes to find SMALL, where with so many additions from `found` on are found.

    n (found / SMALL)^2, because intervals narrow with the square root of n; two digits, rounded up.

    >>> needed(768, 0.05), needed(16, 0.039), needed(3, 0.021)
    (4800, 61, 4)
    """
    many = now * (found / SMALL) ** 2
    step = int(10 ** max(0, math.floor(math.log10(max(many, 1.0))) - 1))
    return math.ceil(round(many / step, 6)) * step


def unused(row: Row) -> bool:
    """Whether a paired difference has no interval because the attack made no use of the explanation.

    Older results have such rows; newer ones have the interval of the combination made to use it.

    >>> unused(Row(kind="contrast", metric="auc", value=0.0, low=0.0, high=0.0))
    True
    """
    return flat(row) and row.value == 0 and (row.unchanged is None or row.unchanged >= row.units)


def flat(row: Row) -> bool:
    """Whether a paired difference has an interval without any width, which says nothing about what could be found.

    >>> flat(Row(kind="contrast", metric="auc", value=0.0, low=0.0, high=0.0, units=4, unchanged=0))
    True
    """
    if row.kind not in DIFFERENCES or row.low is None or row.high is None:
        return False
    return row.high - row.low <= NO_SPREAD
