"""The accountants of DP-SGD: the epsilon of noisy sums over sampled rows, and the noise for a given epsilon."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jali.core.errors import JaliError
from jali.core.guarantee import Guarantee, accounting
from jali.privacy.accounting import divergences as by_divergences

if TYPE_CHECKING:
    from dp_accounting import DpEvent

GRID = 5e-4  # width of the grid of privacy losses in units of epsilon
FINEST = 1e-5  # least width of the grid
CLOSE = 1e-3  # relative tolerance of the noise multiplier
MOST = 2.0**20  # largest noise multiplier that is tried


@dataclass(frozen=True)
class Sampled(Guarantee):
    """The guarantee of Gaussian noise on `steps` sums over sampled rows.

    The noise has standard deviation `multiplier` times the sensitivity of a sum to one record. Each record is in a sum
    independently with probability `rate` (Poisson sampling).
    """

    rate: float = 1.0
    multiplier: float = 0.0
    steps: int = 1

    def event(self) -> DpEvent:
        """All steps as an event of `dp-accounting`."""
        return event(self.multiplier, self.rate, self.steps)


def event(multiplier: float, rate: float, steps: int) -> Any:
    """Noisy sums over Poisson samples as an event of `dp-accounting`."""
    dp = accounting()
    once = dp.GaussianDpEvent(multiplier)
    return dp.SelfComposedDpEvent(once if rate == 1 else dp.PoissonSampledDpEvent(rate, once), steps)


def losses(multiplier: float, rate: float, steps: int, delta: float, scale: float = 1.0) -> float:
    """Epsilon at delta by the privacy loss distribution, on a grid in units of `scale` that rounds losses up.

    >>> round(losses(4.0, 1.0, 1, 1e-5), 3)
    0.926
    """
    dp = accounting()
    accountant = dp.pld.PLDAccountant(dp.NeighboringRelation.ADD_OR_REMOVE_ONE, max(GRID * scale, FINEST))
    return float(accountant.compose(event(multiplier, rate, steps)).get_epsilon(delta))


def divergences(multiplier: float, rate: float, steps: int, delta: float) -> float:
    """Epsilon at delta by Rényi divergences, which is somewhat larger.

    >>> round(divergences(4.0, 1.0, 1, 1e-5), 3)
    1.013
    """
    return by_divergences(event(multiplier, rate, steps), delta)


@functools.cache
def noise_for(epsilon: float, delta: float, rate: float, steps: int) -> float:
    """The least multiplier for which `losses` is at most epsilon, rounded up by at most one part in a thousand.

    Rényi divergences give a multiplier that suffices. The privacy loss distribution, which is slower, is evaluated only
    near it.

    >>> losses(noise_for(4.0, 1e-5, 0.5, 2), 0.5, 2, 1e-5) <= 4.0
    True
    """
    enough = 1.0
    while divergences(enough, rate, steps, delta) > epsilon:
        enough *= 2
        if enough > MOST:
            raise JaliError(f"No noise makes {steps:,} steps cost epsilon = {epsilon:g}: take a larger epsilon.")
    high = _least(lambda m: divergences(m, rate, steps, delta), epsilon, enough)
    return _least(lambda m: losses(m, rate, steps, delta, epsilon), epsilon, high)


def _least(costs: Callable[[float], float], epsilon: float, high: float) -> float:
    """The least multiplier with costs of at most epsilon; `high` suffices.

    The search is on logarithms, because near the solution costs are close to a power of the multiplier.
    """
    from scipy.optimize import brentq

    def excess(log: float) -> float:
        return math.log(costs(math.exp(log)) / epsilon)

    low = 0.8 * high
    while costs(low) <= epsilon:
        high = low
        low = 0.8 * low
    found = math.exp(brentq(excess, math.log(low), math.log(high), xtol=CLOSE / 4)) * (1 + CLOSE / 4)
    return min(found if costs(found) <= epsilon else found * (1 + CLOSE / 2), high)
