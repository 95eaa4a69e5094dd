"""Every estimate has an interval; the unit of resampling is the target model, and below it the person, not the guess.

Target models that share people and shadow models are correlated; `estimate` and `contrast` add that covariance.
With one target model there is no such interval: the intervals given instead (`one_model`) are conditional on that
model, and the name of the method says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from scipy.special import ndtri, stdtrit

from jali.core.errors import JaliError
from jali.core.guesses import Estimate, Guesses, places, rows_by_unit
from jali.core.values import Bools, Floats, Ints, Rng
from jali.stats import one_model, precision_recall, roc
from jali.stats.delong import delong, delong_difference
from jali.stats.influence import Owners, Spread
from jali.stats.judged import Judged
from jali.stats.one_model import (
    HOW_BOOTSTRAP,
    HOW_DELONG,
    HOW_PEOPLE,
    HOW_RATE,
    bootstrap,
    clopper_pearson,
    rate_bounds,
)

__all__ = [
    "HOW_BOOTSTRAP",
    "HOW_DELONG",
    "HOW_PEOPLE",
    "HOW_RATE",
    "HOW_UNITS",
    "Judged",
    "apart",
    "bootstrap",
    "clopper_pearson",
    "contrast",
    "delong",
    "delong_difference",
    "estimate",
    "over_units",
    "rate_bounds",
]

HOW_UNITS = "t over target models"
NOTHING_KNOWN = Spread()


def over_units(
    values: Floats,
    level: float = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
    known: Spread = NOTHING_KNOWN,
    rate: bool = False,
) -> Estimate:
    """Mean of one value per target model (T,) with an interval over them, clipped to the bounds of the metric.

    mean ± sqrt(q^2 K + t^2 E). K = (within - shared / T) + shared is the variance of the mean that the people who are
    judged cause (`influence.spread`), known from all of them: q has their degrees of freedom. E = sd^2 / T - what
    people explain of it, never below zero, is what models add: t has T - 1 degrees of freedom (Graybill and Wang 1980).
    Without a spread this is the t-interval of the values. A rate at few false positives differs between models by
    factors; its upper end is taken on the scale of the arcsine of its root where that is higher.

    >>> e = over_units(np.array([0.5, 0.6, 0.7]))
    >>> round(e.value, 3), round(e.low, 3), round(e.high, 3), e.units
    (0.6, 0.352, 0.848, 3)
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0 or not np.isfinite(values).all():
        raise JaliError("An interval over target models needs one finite value per target model.")
    value = float(values.mean())
    units = len(values)
    if units == 1:
        reason = "An interval over target models needs at least two of them; there is one."
        return Estimate(value, units=1, reason=reason)
    share = _explained(units, level, rate)
    half = _half_width(float(values.var(ddof=1)) / units, units, known, level, share)
    high = max(value + half, _above(value, half)) if rate else value + half
    return Estimate(value, max(bounds[0], value - half), min(bounds[1], high), units)


def _above(rate: float, half: float) -> float:
    """A rate and half the width of its interval added on the scale of the arcsine of its root."""
    if not 0 < rate < 1:
        return rate
    angle = math.asin(math.sqrt(rate)) + half / (2 * math.sqrt(rate * (1 - rate)))
    return math.sin(min(angle, math.pi / 2)) ** 2


def _half_width(observed: float, units: int, known: Spread, level: float, share: float) -> float:
    """Half the width of `over_units`, from the observed variance of the mean as if targets were independent."""
    alone = max(known.within - known.shared / units, 0.0)
    people_cause = alone + known.shared
    explained = min(alone, share * people_cause)
    excess = max(observed - explained, 0.0)
    by_people = float(_quantile(known.freedom, level)) ** 2 * people_cause
    return math.sqrt(by_people + float(_quantile(units - 1, level)) ** 2 * excess)


def _explained(units: int, level: float, rate: bool) -> float:
    """How much of the variance that people cause may be taken off the observed one: 1 - 0.92 * 0.65^(T - 2).

    A few targets may agree by accident, and then a true difference between models would be taken for none. With these
    shares a 95 % interval of normal values covers 94 % or more however much models differ (docs/decisions.md); at
    higher levels nothing is taken off. Rates at few false positives are skewed, and have 1 - 2.5 / T.
    """
    if level > 0.95:
        return 0.0
    return max(0.0, 1 - 2.5 / units) if rate else 1 - 0.92 * 0.65 ** (units - 2)


def _quantile(freedom: float, level: float) -> float:
    tail = (1 + level) / 2
    return float(ndtri(tail) if math.isinf(freedom) else stdtrit(freedom, tail))


def average(x: Floats | Bools, unit: Ints, person: Ints, level: float = 0.95) -> Estimate:
    """Mean over target models of the mean of x (G,) within each, with an interval that accounts for shared people.

    >>> average(np.array([1.0, 0.0, 1.0, 1.0]), np.array([0, 0, 1, 1]), np.arange(4)).value
    0.75
    """
    return averages([x], unit, person, level)[0]


def averages(each: Iterable[Floats | Bools], unit: Ints, person: Ints, level: float = 0.95) -> list[Estimate]:
    """`average` of several x about the same guesses."""
    owners = Owners.of(unit, person)
    units, at = places(unit)
    count = np.bincount(at)
    out = []
    for x in each:
        means = np.bincount(at, weights=x) / count
        effect = (x - means[at]) / count[at]
        if units == 1:
            half = float(ndtri((1 + level) / 2)) * float(np.linalg.norm(np.bincount(owners.person, effect)))
            out.append(Estimate(float(means[0]), float(means[0]) - half, float(means[0]) + half, 1))
        else:
            out.append(over_units(means, level, (-np.inf, np.inf), owners.spread(effect)))
    return out


def estimate(metric: str, guesses: Guesses | Judged, rng: Rng, level: float = 0.95) -> tuple[Estimate, str]:
    """A metric averaged over target models, with its interval and the method ("" where there is no value).

    >>> truth = np.arange(40) % 2 == 0
    >>> guesses = Guesses(np.arange(40) % 3 + truth, truth, np.arange(40) // 20, np.arange(40))
    >>> estimate("tpr@0.01", guesses, np.random.default_rng(0))[0].reason
    'FPR 1 % needs at least 299 non-members; there are 10.'
    """
    judged = _judged(guesses)
    reason = judged.undefined(metric)
    if reason:
        return Estimate(None, units=len(judged.rows), reason=reason), ""
    if len(judged.rows) == 1:
        return one_model.alone(metric, judged.guesses, rng, level)
    known = judged.spread_of(metric)
    bounds = (-1.0 if metric == precision_recall.LIFT else 0.0, 1.0)
    found = over_units(judged.values(metric), level, bounds, known, "@" in metric)
    return _never_certain(metric, found, judged, level), HOW_UNITS


def _judged(guesses: Guesses | Judged) -> Judged:
    return guesses if isinstance(guesses, Judged) else Judged(guesses)


def each_target(metric: roc.Metric, guesses: Guesses) -> Estimate:
    """Mean of any metric of scores and truth over target models, with a plain t-interval."""
    found = [metric(guesses.score[r], guesses.truth[r]) for r in rows_by_unit(guesses.unit)]
    return over_units(np.array(found))


def contrast(
    metric: str, with_: Guesses | Judged, without: Guesses | Judged, rng: Rng, level: float = 0.95
) -> tuple[Estimate, str]:
    """A metric of `with_` minus that of `without`, paired per target model, with its interval and the method.

    >>> truth = np.arange(40) % 2 == 0
    >>> guesses = Guesses(np.arange(40) % 3 + truth, truth, np.arange(40) // 20, np.arange(40))
    >>> contrast("auc", guesses, guesses, np.random.default_rng(0))
    (Estimate(value=0.0, low=0.0, high=0.0, units=2, reason=''), 't over target models')
    """
    a = _judged(with_)
    b = _judged(without)
    for name in ("unit", "record", "truth", "group", "weight"):
        if not np.array_equal(vars(a.guesses)[name], vars(b.guesses)[name]):
            raise JaliError(f"A paired difference needs the same guesses in the same order; {name} differs.")
    reason = a.undefined(metric)
    if reason:
        return Estimate(None, units=len(a.rows), reason=reason), ""
    if len(a.rows) == 1:
        found, how = one_model.alone_difference(metric, a.guesses, b.guesses, rng, level)
    else:
        values = a.values(metric) - b.values(metric)
        known = a.spread(a.effects(metric) - b.effects(metric))
        found, how = over_units(values, level, (-1.0, 1.0), known), HOW_UNITS
    return _perhaps_unseen(metric, found, a, b, level), how


def _perhaps_unseen(metric: str, found: Estimate, a: Judged, b: Judged, level: float) -> Estimate:
    """A difference of two rates in which nobody differs has the limit of a rate of zero, unless the scores are equal.

    Two attacks that both find nobody at few false positives may still differ in the population.
    """
    if "@" not in metric or found.low is None or found.low != found.high:
        return found
    if np.array_equal(a.guesses.score, b.guesses.score):
        return found
    limit = _of_zero(metric, a, level)
    return replace(found, low=found.low - limit, high=found.low + limit)


def _of_zero(metric: str, judged: Judged, level: float) -> float:
    """The exact upper limit of a rate that is zero in as many trials as there are people of the kind that is found."""
    return clopper_pearson(0, judged.people[metric.startswith("tpr")], level)[1]


def foreseen(metric: str, with_: Guesses, without: Guesses, units: int) -> tuple[float, float, float]:
    """Mean of a paired difference, and for an audit of so many targets its standard deviation and half interval.

    The guesses are those of some targets; what their people contribute to the variance of a mean falls with the number
    of targets, except for what targets share.
    """
    a = Judged(with_)
    b = Judged(without)
    reason = a.undefined(metric)
    if reason:
        raise JaliError(reason)
    values = a.values(metric) - b.values(metric)
    known = a.spread(a.effects(metric) - b.effects(metric))
    here = len(values)
    if units == 1:
        deviation = math.sqrt(known.within * here)
        return float(values.mean()), deviation, float(_quantile(known.freedom, 0.95)) * deviation
    alone = max(known.within * here - known.shared, 0.0)
    observed = float(values.var(ddof=1)) if here > 1 else alone
    there = replace(known, within=known.within * here / units)
    half = _half_width(observed / units, units, there, 0.95, _explained(units, 0.95, rate=False))
    deviation = math.sqrt(max(observed, alone) / units + known.shared)
    return float(values.mean()), deviation, half


def apart(a: Estimate, b: Estimate) -> Estimate:
    """Difference a - b of two independent estimates, its interval made from theirs.

    low = (a - b) - sqrt((a - a.low)^2 + (b.high - b)^2), and the mirror image: Newcombe's method of 1998, which keeps
    intervals that are not symmetric.

    >>> e = apart(Estimate(0.7, 0.6, 0.8, 5), Estimate(0.5, 0.4, 0.6, 4))
    >>> round(e.value, 3), round(e.low, 3), round(e.high, 3), e.units
    (0.2, 0.059, 0.341, 4)
    """
    for e in (a, b):
        if e.value is None or e.low is None or e.high is None:
            return Estimate(None, units=e.units, reason=e.reason or "One side of the difference has no interval.")
    va, la, ha = np.array([a.value, a.low, a.high], dtype=np.float64)
    vb, lb, hb = np.array([b.value, b.low, b.high], dtype=np.float64)
    low = va - vb - math.hypot(va - la, hb - vb)
    high = va - vb + math.hypot(ha - va, vb - lb)
    return Estimate(float(va - vb), float(low), float(high), min(a.units, b.units))


def _never_certain(metric: str, found: Estimate, judged: Judged, level: float) -> Estimate:
    """No rate ends below the exact limit of a rate of zero, or above that of one, in as many trials as people.

    Targets that are judged on the same people are no further trials: a person who is missed once is missed again.
    """
    if found.low is None or found.high is None or "@" not in metric:
        return found
    of_zero = _of_zero(metric, judged, level)
    return replace(found, low=min(found.low, 1 - of_zero), high=max(found.high, of_zero))
