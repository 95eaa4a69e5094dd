"""The scales on which one signal is read: log-odds suit networks, probabilities suit trees."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit

from jali.core.values import Bools, Floats, Unit

Change = Callable[[Floats], Floats]
LARGEST = 100.0  # exponents far beyond it overflow when they are squared and summed
HUGE = 1e50  # numbers beyond which a signal without a unit is read in units of its largest one, or cut
SMALL = 1e-3  # and below: variances have a floor
EDGE = 1e-9  # closest to 0 and 1 that a probability comes before its log-odds are taken


def _same(x: Floats) -> Floats:
    return x


def _arcsine(p: Floats) -> Floats:
    """The scale on which a share of votes has the same variance everywhere."""
    return np.arcsin(np.sqrt(np.clip(p, 0.0, 1.0)))


def _log_odds(p: Floats) -> Floats:
    kept = np.clip(p, EDGE, 1 - EDGE)
    return np.asarray(np.log(kept) - np.log1p(-kept))


def _raised(t: Floats) -> Floats:
    return np.asarray(np.exp(np.clip(t, -LARGEST, LARGEST)))


# Per unit, the changes of scale; the first is the scale on which the signal is stored.
CHANGES: dict[Unit, tuple[Change, ...]] = {
    Unit.LOG_ODDS: (
        _same,
        expit,
        lambda t: _arcsine(expit(t)),
        lambda t: -np.logaddexp(0.0, -t),
    ),
    Unit.LOG_PROBABILITY: (_same, _raised, lambda t: _arcsine(_raised(t)), lambda t: _log_odds(_raised(t))),
    Unit.PROBABILITY: (_same, _arcsine, _log_odds),
    Unit.LOG: (_same, _raised),
    Unit.MINUS_LOG: (_same, lambda t: -_raised(-t)),
    Unit.YES_NO: (_same,),
}


def unit_of(declared: Unit, value: Floats, observed: Bools) -> Unit:
    """The unit of a signal (N, K): the declared one; for a signal of no declared unit, what its values show.

    >>> unit_of(Unit.PLAIN, np.array([[0.0, 1.0]]), np.ones((1, 2), bool)).value
    'yes or no'
    """
    if declared is not Unit.PLAIN:
        return declared
    seen = _seen(value, observed)
    if not len(seen) or seen.min() < 0 or seen.max() > 1:
        return Unit.PLAIN
    return Unit.YES_NO if np.isin(seen, (0.0, 1.0)).all() else Unit.PROBABILITY


def changes(unit: Unit, value: Floats, observed: Bools) -> tuple[Change, ...]:
    """The changes of scale of one signal (N, K); all keep its order.

    A signal of no known unit is also read on a scale that is linear around its median and logarithmic far from it.
    """
    if unit is not Unit.PLAIN:
        return CHANGES[unit]
    seen = _seen(value, observed)
    if not len(seen):
        return (_same,)
    size = float(np.abs(seen).max())
    # Squares of very large numbers overflow, and those of very small ones vanish.
    plain = _not_huge if SMALL < size < HUGE or size == 0 else lambda t: _cut(t, 0.0, size)
    centre = float(np.median(seen))
    width = float(np.median(np.abs(seen - centre)))
    if width == 0:
        return (plain,)
    return (plain, lambda t: np.arcsinh(_cut(t, centre, width)))


def _not_huge(t: Floats) -> Floats:
    """Numbers cut far out."""
    return np.clip(t, -HUGE, HUGE)


def _cut(t: Floats, centre: float, unit: float) -> Floats:
    """Numbers above a centre in some unit, cut far out: a model may answer with larger numbers than any other."""
    with np.errstate(over="ignore"):
        return np.clip((t - centre) / unit, -HUGE, HUGE)


def _seen(value: Floats, observed: Bools) -> Floats:
    """The observed values of a signal (N, K), without a copy where all are."""
    return np.ravel(value) if observed.all() else value[observed]
