"""What an audit could have found: how large a difference has to be before its interval leaves zero."""

from __future__ import annotations

import math

from scipy.special import ndtri

from jali.core.metrics import metric
from jali.results import Row

LEVEL, POWER = 0.95, 0.8
MODELS = 8  # below so many target models, what a rate of few false positives could have shown is not known
MANY = 16  # from so many on, the width of a paired difference is known well enough to be used alone
OFTEN = "four times in five"  # POWER in words
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
    """The addition that a paired difference could have found: infinite if none that is possible, None if unknown.

    Target models in which the attack made no use of the explanation say nothing, and their zeros make the interval
    narrow: value and ends are divided by the share of the others, which turns them into those of the others' mean;
    where they are the minority, this is not attempted. A metric has an upper bound, so that no more can be added than
    the baseline leaves. Where nothing was added, a paired difference of few models varies less than one where
    something was: then x is not below half of the baseline's own interval. Of rates in few models nothing is said.

    >>> half_used = Row(kind="contrast", metric="auc", value=0.0, low=-0.01, high=0.01, units=8, unchanged=4)
    >>> round(addition_found(half_used), 4)
    0.0286
    """
    if row.value is None or row.low is None or row.high is None or unused(row) or mostly_unused(row):
        return None
    if row.metric != "auc" and row.units < MODELS:
        return None
    share = 1 - (row.unchanged or 0) / max(1, row.units)
    found = could_have_found(row.value / share, row.low / share, row.high / share)
    if found is None:
        return None
    found = max(found, row.ignored_below)
    if row.units < MANY and baseline is not None and baseline.low is not None and baseline.high is not None:
        found = max(found, (baseline.high - baseline.low) / 2)
    most = metric(row.metric).high
    room = most if baseline is None or baseline.value is None else most - baseline.value
    return found if found < room else math.inf


def unused(row: Row) -> bool:
    """Whether a paired difference is exactly zero because the attack made no use of the explanation.

    Results that do not say in how many target models that was are believed if value and interval are zero.

    >>> unused(Row(kind="contrast", metric="auc", value=0.0, low=0.0, high=0.0))
    True
    """
    if row.kind != "contrast" or row.value is None:
        return False
    if row.unchanged is not None and row.units:
        return row.unchanged >= row.units
    return row.value == row.low == row.high == 0


def mostly_unused(row: Row) -> bool:
    """Whether the attack made no use of the explanation in more than half of the target models.

    >>> mostly_unused(Row(kind="contrast", metric="auc", value=0.0, units=4, unchanged=3))
    True
    """
    return row.kind == "contrast" and 2 * (row.unchanged or 0) > row.units > 0


def flat(row: Row) -> bool:
    """Whether a paired difference has an interval without any width, which says nothing about what could be found.

    >>> flat(Row(kind="contrast", metric="auc", value=0.0, low=0.0, high=0.0, units=4, unchanged=0))
    True
    """
    if row.kind != "contrast" or row.low is None or row.high is None:
        return False
    return row.high - row.low <= NO_SPREAD
