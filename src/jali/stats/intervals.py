"""Every estimate has an interval; the unit of resampling is the target model, not the guess.

Target models that share records and shadow models are correlated; `estimate` and `contrast` add that covariance.
With one target model there is no such interval: the intervals given instead are conditional on that model, and the
name of the method says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import betaincinv, ndtri, stdtrit

from jali.core.errors import JaliError
from jali.core.values import Bools, Estimate, Floats, Guesses, Ints, Rng
from jali.stats import decided, roc
from jali.stats.delong import delong, delong_difference
from jali.stats.influence import influence, shared_covariance
from jali.stats.roc import crossed_accuracy, halves, resolvable

__all__ = [
    "HOW_BOOTSTRAP",
    "HOW_DELONG",
    "HOW_RATE",
    "HOW_UNITS",
    "apart",
    "bootstrap_records",
    "clopper_pearson",
    "contrast",
    "delong",
    "delong_difference",
    "estimate",
    "over_units",
    "rate_bounds",
]

HOW_UNITS = "t over target models"
HOW_DELONG = "DeLong, conditional on this model"
HOW_RATE = "Clopper-Pearson over a band of thresholds, conditional on this model"
HOW_BOOTSTRAP = "record bootstrap, conditional on this model"


def over_units(
    values: Floats,
    level: float = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
    shared: float = 0.0,
    within: float = 0.0,
) -> Estimate:
    """Mean of one value per target model (T,) with a t-interval, clipped to the bounds of the metric.

    mean ± t_{T-1} sqrt(max(sd^2 / T, within) + shared), where `shared` is the covariance of two target models
    (`influence.shared_covariance`), zero if they are independent, and `within` the variance of the mean that the
    records of each target alone cause: a few targets may agree by accident, so it is a lower limit.

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
    half = float(stdtrit(units - 1, (1 + level) / 2)) * math.sqrt(
        max(float(values.var(ddof=1)) / units, within) + shared
    )
    return Estimate(value, max(bounds[0], value - half), min(bounds[1], value + half), units)


def clopper_pearson(k: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Exact interval of a rate after k successes in n trials; each side errs with probability (1 - level) / 2.

    low = Beta^-1((1 - level)/2; k, n - k + 1), high = Beta^-1((1 + level)/2; k + 1, n - k).

    >>> [round(x, 4) for x in clopper_pearson(1, 10)]
    [0.0025, 0.445]
    """
    low, high = rate_bounds(np.array([k]), n, level)
    return float(low[0]), float(high[0])


def rate_bounds(k: Ints, n: int, level: float) -> tuple[Floats, Floats]:
    """`clopper_pearson` for many counts k (any shape) of n trials each.

    >>> rate_bounds(np.array([0, 10]), 10, 0.95)[0].round(4)
    array([0.    , 0.6915])
    """
    if n < 0 or np.any(k < 0) or np.any(k > n):
        raise JaliError(f"A rate needs between 0 and n = {n} successes, not {np.min(k)} to {np.max(k)}.")
    tail = (1 - level) / 2
    low = np.where(k == 0, 0.0, betaincinv(np.maximum(k, 1), n - np.maximum(k, 1) + 1, tail))
    high = np.where(k == n, 1.0, betaincinv(k + 1, np.maximum(n - k, 1), 1 - tail))
    return low, high


def average(x: Floats | Bools, unit: Ints, record: Ints, level: float = 0.95) -> Estimate:
    """Mean over target models of the mean of x (G,) within each, with an interval that accounts for shared records.

    >>> average(np.array([1.0, 0.0, 1.0, 1.0]), np.array([0, 0, 1, 1]), np.arange(4)).value
    0.75
    """
    units, at, count = np.unique(unit, return_inverse=True, return_counts=True)
    means = np.bincount(at, weights=x) / count
    effect = (x - means[at]) / count[at]
    if len(units) == 1:
        half = float(ndtri((1 + level) / 2)) * float(np.linalg.norm(effect))
        return Estimate(float(means[0]), float(means[0]) - half, float(means[0]) + half, 1)
    within = float(effect @ effect) / len(units) ** 2
    return over_units(means, level, (-np.inf, np.inf), shared_covariance(effect, unit, record), within)


def bootstrap_records(
    metric: Callable[..., float],
    scores: tuple[Floats, ...],
    truth: Bools,
    rng: Rng,
    level: float = 0.95,
    draws: int = 1000,
    strata: Ints | None = None,
) -> Estimate:
    """metric(*scores, truth) with a percentile interval; each stratum is redrawn on its own, all scores together.

    The strata (G,) are members and non-members unless others are given.

    >>> score, truth = np.arange(40.0), np.arange(40) % 3 > 0
    >>> e = bootstrap_records(roc.auc, (score,), truth, np.random.default_rng(0), draws=50)
    >>> e.low < e.value < e.high
    True
    """
    label = truth.astype(np.int64) if strata is None else strata
    cells = [np.flatnonzero(label == cell) for cell in np.unique(label)]
    drawn = np.empty(draws)
    for b in range(draws):
        rows = np.concatenate([s[rng.integers(len(s), size=len(s))] for s in cells])
        drawn[b] = metric(*(score[rows] for score in scores), truth[rows])
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(float(metric(*scores, truth)), float(low), float(high), 1)


def estimate(metric: str, guesses: Guesses, rng: Rng, level: float = 0.95) -> tuple[Estimate, str]:
    """A metric averaged over target models, with its interval and the method ("" where there is no value).

    >>> truth = np.arange(40) % 2 == 0
    >>> guesses = Guesses(np.arange(40) % 3 + truth, truth, np.arange(40) // 20, np.arange(40))
    >>> estimate("tpr@0.01", guesses, np.random.default_rng(0))[0].reason
    'FPR 1 % needs at least 299 non-members; there are 10.'
    """
    rows, reason = _units(metric, guesses)
    if reason:
        return Estimate(None, units=len(rows), reason=reason), ""
    if len(rows) == 1:
        return _alone(metric, guesses.score, guesses.truth, rng, level)
    effects, values = _effects(metric, guesses, rows), _values(metric, guesses, rows)
    shared = shared_covariance(effects, guesses.unit, guesses.record)
    bounds = (-1.0 if metric == decided.LIFT else 0.0, 1.0)
    found = over_units(values, level, bounds, shared, float(effects @ effects) / len(rows) ** 2)
    return _never_certain(metric, found, guesses, level), HOW_UNITS


def each_target(metric: roc.Metric, guesses: Guesses) -> Estimate:
    """Mean of any metric of scores and truth over target models, with a plain t-interval."""
    found = [guesses.pick(guesses.unit == u) for u in np.unique(guesses.unit)]
    return over_units(np.array([metric(g.score, g.truth) for g in found]))


def contrast(metric: str, with_: Guesses, without: Guesses, rng: Rng, level: float = 0.95) -> tuple[Estimate, str]:
    """A metric of `with_` minus that of `without`, paired per target model, with its interval and the method.

    >>> truth = np.arange(40) % 2 == 0
    >>> guesses = Guesses(np.arange(40) % 3 + truth, truth, np.arange(40) // 20, np.arange(40))
    >>> contrast("auc", guesses, guesses, np.random.default_rng(0))
    (Estimate(value=0.0, low=0.0, high=0.0, units=2, reason=''), 't over target models')
    """
    for name in ("unit", "record", "truth"):
        if not np.array_equal(getattr(with_, name), getattr(without, name)):
            raise JaliError(f"A paired difference needs the same guesses in the same order; {name} differs.")
    rows, reason = _units(metric, with_)
    if reason:
        return Estimate(None, units=len(rows), reason=reason), ""
    if len(rows) > 1:
        values = _values(metric, with_, rows) - _values(metric, without, rows)
        effects = _effects(metric, with_, rows) - _effects(metric, without, rows)
        shared = shared_covariance(effects, with_.unit, with_.record)
        within = float(effects @ effects) / len(rows) ** 2
        return over_units(values, level, (-1.0, 1.0), shared, within), HOW_UNITS
    if metric == "auc":
        return delong_difference(with_.score, without.score, with_.truth, level), HOW_DELONG

    def gain(a: Floats, b: Floats, truth: Bools) -> float:
        return roc.metric(metric)(a, truth) - roc.metric(metric)(b, truth)

    return bootstrap_records(gain, (with_.score, without.score), with_.truth, rng, level), HOW_BOOTSTRAP


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


def _never_certain(metric: str, found: Estimate, guesses: Guesses, level: float) -> Estimate:
    """A rate of exactly zero or one in every target still has the exact limit of that many trials."""
    if found.value not in (0.0, 1.0) or "@" not in metric:
        return found
    trials = int(np.count_nonzero(guesses.truth if metric.startswith("tpr") else ~guesses.truth))
    low, high = clopper_pearson(round(found.value * trials), trials, level)
    return Estimate(found.value, low, high, found.units)


def _units(metric: str, guesses: Guesses) -> tuple[list[Ints], str]:
    """The rows of each target model, and why the metric is undefined for one of them ("" if it is for none)."""
    if not len(guesses.unit):
        return [], "There are no guesses."
    order = np.argsort(guesses.unit, kind="stable")
    rows = np.split(order, np.flatnonzero(np.diff(guesses.unit[order])) + 1)
    reasons = (resolvable(metric, guesses.truth[r]) for r in rows)
    none = sum(not (guesses.score[r] > 0).any() for r in rows) if metric in decided.OF_CLAIMS else 0
    undefined = f"No record is flagged as a member in {none} of {len(rows)} targets: no precision." if none else ""
    return rows, next((reason for reason in reasons if reason), undefined)


def _values(metric: str, guesses: Guesses, rows: list[Ints]) -> Floats:
    return np.array([roc.metric(metric)(guesses.score[r], guesses.truth[r]) for r in rows])


def _effects(metric: str, guesses: Guesses, rows: list[Ints]) -> Floats:
    effect = np.empty(len(guesses.score))
    for r in rows:
        effect[r] = influence(metric, guesses.score[r], guesses.truth[r])
    return effect


def _alone(metric: str, score: Floats, truth: Bools, rng: Rng, level: float) -> tuple[Estimate, str]:
    """One target model: the interval that fits the metric, conditional on that model."""
    if metric == "auc":
        return delong(score, truth, level), HOW_DELONG
    if metric == "balanced_accuracy":
        return _crossed(score, truth, rng, level), HOW_BOOTSTRAP
    if metric == "best_balanced_accuracy" or metric in decided.NAMES:
        return bootstrap_records(roc.metric(metric), (score,), truth, rng, level, 500), HOW_BOOTSTRAP
    name, _, alpha = metric.partition("@")
    low, high = (
        _banded(score, truth, float(alpha), level) if name == "tpr" else _banded(-score, ~truth, float(alpha), level)
    )
    return Estimate(roc.metric(metric)(score, truth), low, high, 1), HOW_RATE


def _banded(score: Floats, truth: Bools, alpha: float, level: float) -> tuple[float, float]:
    """Interval of the TPR at the threshold that a share alpha of all non-members exceeds, which is itself unknown.

    Of n non-members, B ~ Bin(n, alpha) lie above that threshold, so it lies between two of their order statistics; the
    rate of members above either end has its Clopper-Pearson limit, and the two errors share 1 - level.
    """
    from scipy.stats import binom  # here, because it takes a second to import and workers do without

    tail, members = (1 - level) / 4, score[truth]
    negatives = np.sort(score[~truth])[::-1]
    fewest, most = (int(binom.ppf(q, len(negatives), alpha)) for q in (tail, 1 - tail))
    strict = int(np.count_nonzero(members > negatives[fewest - 1])) if fewest > 0 else 0
    loose = int(np.count_nonzero(members >= negatives[most])) if most < len(negatives) else len(members)
    share = 1 - 2 * tail
    return clopper_pearson(strict, len(members), share)[0], clopper_pearson(loose, len(members), share)[1]


def _crossed(score: Floats, truth: Bools, rng: Rng, level: float) -> Estimate:
    """Balanced accuracy redrawn within its two halves, so that no guess helps to choose its own threshold."""
    half = halves(truth).astype(np.float64)

    def metric(score: Floats, half: Floats, truth: Bools) -> float:
        return crossed_accuracy(score, truth, half > 0)

    return bootstrap_records(metric, (score, half), truth, rng, level, 500, truth * 2 + half.astype(np.int64))
