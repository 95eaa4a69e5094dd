"""Estimates as the results hold them."""

from __future__ import annotations

from jali.core.guesses import Estimate
from jali.protect.frontier.per_target import PerTarget
from jali.results.frontier import Number


def mean_of(found: PerTarget | str) -> Number:
    """The mean over targets, or why there is none."""
    return Number(value=None, reason=found) if isinstance(found, str) else number(found.mean)


def number(e: Estimate) -> Number:
    """An estimate with its interval."""
    return Number(value=e.value, low=e.low, high=e.high, units=e.units, reason=e.reason)
