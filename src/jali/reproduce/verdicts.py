"""Verdicts on published claims: our interval decides between matches, deviates and not resolvable."""

from __future__ import annotations

import math

from jali.core.guesses import Estimate
from jali.results.reproduction import Verdict


def of_value(published: float, tolerance: float, ours: Estimate) -> Verdict:
    """Matches if our whole interval lies within the tolerance of the published number, deviates if none of it does.

    >>> of_value(0.59, 0.02, Estimate(0.60, 0.58, 0.61, 5)), of_value(0.59, 0.02, Estimate(0.50, 0.49, 0.52, 5))
    ('matches', 'deviates')
    """
    return _inside(published - tolerance, published + tolerance, ours)


def of_bound(published: float, tolerance: float, bound: str, ours: Estimate) -> Verdict:
    """Matches if our whole interval lies at or below ("most"), or above ("least"), what was published.

    >>> of_bound(0.02, 0.001, "most", Estimate(0.01, 0.00, 0.02, 5))
    'matches'
    """
    limits = (-math.inf, published + tolerance) if bound == "most" else (published - tolerance, math.inf)
    return _inside(*limits, ours)


def of_order(difference: Estimate, margin: float = 0.0) -> Verdict:
    """Matches if the whole interval of a difference lies above a margin, deviates if all of it lies below.

    >>> of_order(Estimate(0.02, 0.01, 0.03, 5)), of_order(Estimate(0.02, -0.01, 0.05, 5))
    ('matches', 'not resolvable')
    """
    if difference.low is None or difference.high is None:
        return "not resolvable"
    return "matches" if difference.low > margin else "deviates" if difference.high < margin else "not resolvable"


def of_sameness(difference: Estimate, tolerance: float) -> Verdict:
    """Matches if the whole interval of a difference lies within the tolerance of zero, deviates if none of it does.

    >>> of_sameness(Estimate(0.0, -0.01, 0.01, 5), 0.02)
    'matches'
    """
    return _inside(-tolerance, tolerance, difference)


def of_count(published: float, ours: Estimate) -> Verdict:
    """Matches if the lower end of our count reaches the published one, deviates if its upper end does not.

    >>> of_count(7, Estimate(7, 7, 8, 4)), of_count(7, Estimate(5, 3, 6, 4)), of_count(7, Estimate(7, 5, 8, 4))
    ('matches', 'deviates', 'not resolvable')
    """
    if ours.low is None or ours.high is None:
        return "not resolvable"
    return "matches" if ours.low >= published else "deviates" if ours.high < published else "not resolvable"


def _inside(low: float, high: float, ours: Estimate) -> Verdict:
    if ours.low is None or ours.high is None:
        return "not resolvable"
    slack = 1e-12  # rounding: a published number plus its tolerance is a limit that our value may equal
    if low - slack <= ours.low and ours.high <= high + slack:
        return "matches"
    return "deviates" if ours.high < low - slack or ours.low > high + slack else "not resolvable"
