"""What would resolve a claim that is not resolvable, from the arithmetic of its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy.special import stdtrit

from jali.core.guesses import Estimate
from jali.results.reproduction import Needs, Study

MOST = 10_000  # target models: more cannot be run
LEVEL = 0.975


def needs(ours: Estimate, limits: Sequence[float], studies: Sequence[Study]) -> Needs | None:
    """How many targets would shrink the interval enough, if our number and its spread stay as they are.

    A claim is settled when the interval lies wholly on one side of every limit: half its width must fall below the
    distance m from our number to the nearest limit. Half the width over T targets is t(T - 1) s / sqrt(T), s unknown
    but the same: the least T' with t(T' - 1) / sqrt(T') <= (m / h) t(T - 1) / sqrt(T). None without an interval.

    >>> needs(Estimate(0.53, 0.50, 0.56, 6), [0.51], []).targets
    11
    """
    if ours.value is None or ours.low is None or ours.high is None or ours.units < 2:
        return None
    half = max(ours.high - ours.value, ours.value - ours.low)
    margin = min(abs(ours.value - limit) for limit in limits)
    if half <= margin or half == 0:
        return None
    times = (half / margin) ** 2 if margin > 0 else math.inf
    found = _targets(ours.units, margin / half)
    if found is None:
        return Needs(times=None if math.isinf(times) else round(times, 1))
    seconds = sum(study.seconds for study in studies) * found / ours.units
    return Needs(
        targets=found,
        times=round(times, 1),
        hours=round(seconds / 3600, 2) if seconds else None,
        at_least=any(study.stored != 0 for study in studies),
    )


def _targets(units: int, shrink: float) -> int | None:
    """The least number of targets whose interval is `shrink` times as wide; None where it is out of reach."""
    wanted = shrink * _width(units)
    low, high = units, MOST
    if _width(high) > wanted:
        return None
    while low < high:
        middle = (low + high) // 2
        if _width(middle) <= wanted:
            high = middle
        else:
            low = middle + 1
    return low


def _width(units: int) -> float:
    """Half the width of a t interval over so many targets, in units of their spread."""
    return float(stdtrit(units - 1, LEVEL)) / math.sqrt(units)
