"""How many draws fit into a given time: a pilot, whose draws are not used again, decides beforehand."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from jali.core.errors import JaliError

LEAST = 100
SMALL = 100  # draws of the first pilot
LARGE = 400  # and of the second: what takes time whatever the draws, and what each draw takes, are told apart
MOST = 2_000_000


def draws_within(run: Callable[[int], object], minutes: float) -> int:
    """The number of draws of each data set whose test takes so many minutes, the pilot included.

    The time of `run(count)` is taken as a + b count, from two pilots; the result has two significant digits.
    """
    if not 0 < minutes < math.inf:
        raise JaliError(f"--minutes must be positive and finite, not {minutes}.")
    small = _timed(run, SMALL)
    if 5 * small > 60 * minutes:  # another pilot would take most of the time
        return fitting(60 * minutes, 2 * small, small, small)
    large = _timed(run, LARGE)
    return fitting(60 * minutes, small + large, small, large)


def fitting(seconds: float, spent: float, small: float, large: float) -> int:
    """The number of draws for the seconds that remain, if SMALL and LARGE draws took so long.

    >>> fitting(100.0, 0.0, 1.0, 4.0)
    10000
    >>> fitting(2.0, 1.0, 1.0, 4.0)
    100
    """
    each = max((large - small) / (LARGE - SMALL), small / SMALL / 50)
    fixed = max(0.0, small - SMALL * each)
    found = (seconds - spent - fixed) / each
    if found <= LEAST:
        return LEAST
    unit: int = 10 ** max(0, int(math.log10(min(found, MOST))) - 1)
    return max(LEAST, int(min(found, MOST) / unit) * unit)


def _timed(run: Callable[[int], object], count: int) -> float:
    began = time.perf_counter()
    run(count)
    return time.perf_counter() - began
