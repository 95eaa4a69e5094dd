"""Every estimate has an interval; the unit of resampling is the target model, and below it the person, not the guess.

Target models that share people and shadow models are correlated; `estimate` and `contrast` add that covariance.
With one target model there is no such interval: the intervals given instead (`one_model`) are conditional on that
model, and the name of the method says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, gammaincinv, logit, ndtri, stdtrit

from jali.core.errors import JaliError
from jali.core.guesses import Estimate, Guesses, rows_by_unit
from jali.core.values import Bools, Floats, Ints, Rng
from jali.stats import one_model, precision_recall, roc
from jali.stats.delong import SKEWED, delong, delong_difference, ends
from jali.stats.influence import Spread
from jali.stats.judged import Judged, Measured, Paired, Tally, numbered
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
    "Measured",
    "Paired",
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
WIDTHS = 16  # intervals that are foreseen of one mean
FEW_TARGETS = 3  # up to so many, the quantile of t is many deviations


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
    factors; its upper end is taken on another scale where that is higher (`_above`).

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
    high = max(value + half, _above(value, half, units)) if rate else value + half
    return Estimate(value, max(bounds[0], value - half), min(bounds[1], high), units)


def _above(rate: float, half: float, units: int) -> float:
    """A rate and half the width of its interval added on the scale of log-odds.

    Of two or three targets, whose half is many deviations, log-odds would often end near 1; the arcsine of the root
    covers there.
    """
    if not 0 < rate < 1:
        return rate
    if units > FEW_TARGETS:
        return float(expit(logit(rate) + half / (rate * (1 - rate))))
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
    shares a 95 % interval of normal values covers 93.8 % or more however much models differ (docs/decisions.md); at
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
    each: Floats = np.asarray(x, dtype=np.float64)[None]
    persons, numbers = numbered(person)
    return averages(((each[:, r], numbers[r]) for r in rows_by_unit(unit)), 1, persons, level)[0]


def averages(
    targets: Iterable[tuple[Floats | Bools, Ints]], many: int, persons: int, level: float = 0.95
) -> list[Estimate]:
    """`average` of several x, target model by target model: x (A, n), and the persons (n,), numbers below `persons`."""
    tallies = [Tally(persons) for _ in range(many)]
    seen = np.zeros(persons, dtype=bool)
    for each, person in targets:
        seen[person] = True
        for x, tally in zip(each, tallies, strict=True):
            mean = float(x.mean())
            by_person: Floats = np.bincount(person, (x - mean) / len(x), persons).astype(np.float64, copy=False)
            tally.add(mean, by_person)
    known = int(np.count_nonzero(seen))
    return [_averaged(tally, known, level) for tally in tallies]


def _averaged(tally: Tally, known: int, level: float) -> Estimate:
    """The mean over target models; of a single one, the interval of its people."""
    if len(tally.values) > 1:
        return over_units(np.array(tally.values), level, (-np.inf, np.inf), tally.spread(known))
    [value] = tally.values
    half = float(ndtri((1 + level) / 2)) * math.sqrt(tally.within)
    return Estimate(value, value - half, value + half, 1)


def estimate(metric: str, guesses: Guesses | Judged, rng: Rng, level: float = 0.95) -> tuple[Estimate, str]:
    """A metric averaged over target models, with its interval and the method ("" where there is no value).

    >>> truth = np.arange(40) % 2 == 0
    >>> guesses = Guesses(np.arange(40) % 3 + truth, truth, np.arange(40) // 20, np.arange(40))
    >>> estimate("tpr@0.01", guesses, np.random.default_rng(0))[0].reason
    'FPR 1 % needs at least 299 non-members; there are 10.'
    """
    judged = _judged(guesses)
    if len(judged.rows) > 1:
        return over_targets(metric, judged.measured(metric), level)
    reason = judged.undefined(metric)
    if reason:
        return Estimate(None, units=len(judged.rows), reason=reason), ""
    return one_model.alone(metric, judged.guesses, rng, level)


def over_targets(metric: str, found: Measured, level: float = 0.95) -> tuple[Estimate, str]:
    """`estimate` of guesses about several target models, from what was measured of each."""
    if metric in found.reasons:
        return Estimate(None, units=found.units, reason=found.reasons[metric]), ""
    bounds = (-1.0 if metric == precision_recall.LIFT else 0.0, 1.0)
    mean = over_units(found.values[metric], level, bounds, found.spread[metric], "@" in metric)
    return _never_certain(metric, mean, found.people, level), HOW_UNITS


def _judged(guesses: Guesses | Judged) -> Judged:
    return guesses if isinstance(guesses, Judged) else Judged(guesses)


def each_target(metric: roc.Metric, guesses: Guesses) -> Estimate:
    """Mean of any metric of scores and truth over target models, with a plain t-interval."""
    found = [metric(guesses.score[r], guesses.truth[r]) for r in rows_by_unit(guesses.unit)]
    return over_units(np.array(found))


def contrast(metric: str, with_: Guesses, without: Guesses, rng: Rng, level: float = 0.95) -> tuple[Estimate, str]:
    """A metric of `with_` minus that of `without`, paired per target model, with its interval and the method.

    >>> truth = np.arange(40) % 2 == 0
    >>> guesses = Guesses(np.arange(40) % 3 + truth, truth, np.arange(40) // 20, np.arange(40))
    >>> contrast("auc", guesses, guesses, np.random.default_rng(0))
    (Estimate(value=0.0, low=0.0, high=0.0, units=2, reason=''), 't over target models')
    """
    return difference(metric, Paired(Judged(with_), Judged(without), (metric,)), rng, level)


def difference(metric: str, pair: Paired, rng: Rng, level: float = 0.95) -> tuple[Estimate, str]:
    """`contrast` of one of the metrics that are asked of a pair."""
    a = pair.one
    b = pair.other
    for name in ("unit", "record", "truth", "group", "weight"):
        mine = vars(a.guesses)[name]
        other = vars(b.guesses)[name]
        if mine is not other and not np.array_equal(mine, other):
            raise JaliError(f"A paired difference needs the same guesses in the same order; {name} differs.")
    reason = a.undefined(metric)
    if reason:
        return Estimate(None, units=len(a.rows), reason=reason), ""
    if len(a.rows) == 1:
        found, how = one_model.alone_difference(metric, a.guesses, b.guesses, rng, level)
    else:
        values, known = pair.difference(metric)
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
    limit = _of_zero(metric, a.people, level)
    return replace(found, low=found.low - limit, high=found.low + limit)


def _of_zero(metric: str, people: tuple[float, float], level: float) -> float:
    """The exact upper limit of a rate that is zero in as many trials as there are people of the kind that is found."""
    return clopper_pearson(0, people[metric.startswith("tpr")], level)[1]


def differences(metric: str, with_: Guesses, without: Guesses) -> tuple[Floats, Spread]:
    """The paired difference of each target (T,), and how well these are known."""
    pair = Paired(Judged(with_), Judged(without), (metric,))
    reason = pair.one.undefined(metric)
    if reason:
        raise JaliError(reason)
    return pair.difference(metric)


@dataclass(frozen=True)
class Foreseen:
    """What an audit will find of a mean over targets: its standard deviation, and half of its interval.

    half (K,): equally probable values from small to large. With few targets the observed variance, and so the width of
    the interval, differs much from audit to audit.
    """

    deviation: float
    half: Floats


def foreseen(found: Sequence[tuple[Floats, Spread]], units: int) -> list[Foreseen]:
    """For an audit of so many targets, how far each mean difference deviates, and how wide its interval is.

    What people contribute to the variance of a mean falls with the number of targets, except for what targets share. By
    how much more targets differ than their people explain is taken to be the same for all means: a few targets tell
    little about it.
    """
    if units == 1:
        alone = [(math.sqrt(known.within * len(values)), known.freedom) for values, known in found]
        return [Foreseen(each, np.full(WIDTHS, _quantile(freedom, 0.95) * each)) for each, freedom in alone]
    # What remains of the variance of one target without what all share.
    own = [max(known.within * len(values) - known.shared, 0.0) for values, known in found]
    several = [(values, mine) for (values, _), mine in zip(found, own, strict=True) if len(values) > 1 and mine > 0]
    more = float(np.mean([values.var(ddof=1) / mine for values, mine in several])) if several else 1.0
    pairs = zip(found, own, strict=True)
    return [_of_so_many(known, len(values), mine, more, units) for (values, known), mine in pairs]


def _of_so_many(known: Spread, here: int, own: float, more: float, units: int) -> Foreseen:
    """What is foreseen of a mean over so many targets; more: by how much these differ, as above.

    An observed variance is its expectation times chi-squared by its degrees of freedom.
    """
    there = replace(known, within=known.within * here / units)
    share = _explained(units, 0.95, rate=False)
    chances = (np.arange(WIDTHS) + 0.5) / WIDTHS
    observed = more * own / units * 2 * gammaincinv((units - 1) / 2, chances) / (units - 1)
    half = [_half_width(float(each), units, there, 0.95, share) for each in observed]
    return Foreseen(math.sqrt(max(more, 1.0) * own / units + known.shared), np.array(half))


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


def _never_certain(metric: str, found: Estimate, people: tuple[float, float], level: float) -> Estimate:
    """No rate ends below the exact limit of a rate of zero, or above that of one, in as many trials as people.

    Targets that are judged on the same people are no further trials: a person who is missed once is missed again. An
    AUC near 0 or 1 has the ends of `delong.ends`.
    """
    if found.value is None or found.low is None or found.high is None:
        return found
    if metric == "auc" and not 1 - SKEWED < found.value < SKEWED:
        half = max(found.high - found.value, found.value - found.low)
        low, high = ends(found.value, half, max(min(people), 1.0), level)
        return replace(found, low=low, high=high)
    if "@" not in metric:
        return found
    of_zero = _of_zero(metric, people, level)
    return replace(found, low=min(found.low, 1 - of_zero), high=max(found.high, of_zero))
