"""What noise on sums over sampled rows costs: the accountants of DP-SGD, and the noise that a budget asks for."""

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

GRID, FINEST = 5e-4, 1e-5  # width of the grid of privacy losses in units of epsilon, and the least there is
CLOSE, MOST = 1e-3, 2.0**20  # of the noise: how far it may lie above the least one, and the most that is tried


@dataclass(frozen=True)
class Sampled(Guarantee):
    """A claim that rests on Gaussian noise, `multiplier` times what one record adds, on `steps` sums over random rows.

    Every record is in a sum with probability `rate`, on its own (Poisson sampling).
    """

    rate: float = 1.0
    multiplier: float = 0.0
    steps: int = 1

    def event(self) -> DpEvent:
        """All steps, for `dp-accounting`."""
        return event(self.multiplier, self.rate, self.steps)


def event(multiplier: float, rate: float, steps: int) -> Any:
    """Noisy sums over Poisson samples, for `dp-accounting`."""
    dp = accounting()
    once = dp.GaussianDpEvent(multiplier)
    return dp.SelfComposedDpEvent(once if rate == 1 else dp.PoissonSampledDpEvent(rate, once), steps)


def losses(multiplier: float, rate: float, steps: int, delta: float, scale: float = 1.0) -> float:
    """Epsilon at delta by the distribution of the privacy loss, on a grid in units of `scale` that rounds losses up.

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
    """The least multiplier, to one part in a thousand and from above, with which `losses` is at most epsilon.

    Rényi divergences give one that suffices, and the grid is asked only in its neighbourhood, where it is small.

    >>> losses(noise_for(1.0, 1e-5, 0.5, 10), 0.5, 10, 1e-5) <= 1.0
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
    """The least multiplier below `high`, which suffices, that costs at most epsilon; near it, costs go like a power."""
    from scipy.optimize import brentq

    def excess(log: float) -> float:
        return math.log(costs(math.exp(log)) / epsilon)

    low = 0.8 * high
    while costs(low) <= epsilon:
        low, high = 0.8 * low, low
    found = math.exp(brentq(excess, math.log(low), math.log(high), xtol=CLOSE / 4)) * (1 + CLOSE / 4)
    return min(found if costs(found) <= epsilon else found * (1 + CLOSE / 2), high)
