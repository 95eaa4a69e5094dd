"""Intervals of the metrics of one target model, conditional on that model; people are the units."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import bdtr, bdtrik, betaincinv

from jali.core.errors import JaliError
from jali.core.guesses import Estimate, Guesses
from jali.core.values import Bools, Floats, Ints, Rng
from jali.stats import precision_recall, roc
from jali.stats.delong import delong, delong_difference
from jali.stats.people import trials
from jali.stats.redrawn import Half, crossed_accuracies, redraw
from jali.stats.roc import crossed_accuracy, halves

HOW_DELONG = "DeLong, conditional on this model"
HOW_RATE = "Clopper-Pearson over a band of thresholds, conditional on this model"
HOW_BOOTSTRAP = "record bootstrap, conditional on this model"
HOW_PEOPLE = "bootstrap over people, conditional on this model"
_SLACK = 1e-9  # of a share of the non-members that is a whole number of them


def clopper_pearson(k: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Exact interval of a rate after k successes in n trials; each side errs with probability (1 - level) / 2.

    low = Beta^-1((1 - level)/2; k, n - k + 1), high = Beta^-1((1 + level)/2; k + 1, n - k). k and n need not be whole:
    n may be an effective sample size.

    >>> [round(x, 4) for x in clopper_pearson(1, 10)]
    [0.0025, 0.445]
    """
    low, high = rate_bounds(np.array([k]), n, level)
    return float(low[0]), float(high[0])


def rate_bounds(k: Ints | Floats, n: float, level: float) -> tuple[Floats, Floats]:
    """`clopper_pearson` for many counts k (any shape) of n trials each.

    >>> rate_bounds(np.array([0, 10]), 10, 0.95)[0].round(4)
    array([0.    , 0.6915])
    """
    if n < 0 or np.any(k < 0) or np.any(k > n):
        raise JaliError(f"A rate needs between 0 and n = {n} successes, not {np.min(k)} to {np.max(k)}.")
    tail = (1 - level) / 2
    some = np.where(k == 0, 1, k)
    rest = np.where(k == n, 1, n - k)
    low = np.where(k == 0, 0.0, betaincinv(some, np.maximum(n - some + 1, _SLACK), tail))
    high = np.where(k == n, 1.0, betaincinv(k + 1, rest, 1 - tail))
    return low, high


def bootstrap(
    metric: Callable[..., float],
    scores: tuple[Floats, ...],
    truth: Bools,
    rng: Rng,
    level: float = 0.95,
    draws: int = 1000,
    strata: Ints | None = None,
    group: Ints | None = None,
) -> Estimate:
    """metric(*scores, truth) with a percentile interval; each stratum is redrawn on its own, all scores together.

    The strata (G,) are members and non-members unless others are given. The rows of one person (G,) are drawn together;
    a person is in the stratum of their first row.

    >>> score, truth = np.arange(40.0), np.arange(40) % 3 > 0
    >>> e = bootstrap(roc.auc, (score,), truth, np.random.default_rng(0), draws=50)
    >>> e.low < e.value < e.high
    True
    """
    label = truth.astype(np.int64) if strata is None else strata
    person = np.arange(len(truth)) if group is None else group
    order, start, count = _sorted(person)
    of_person = label[order[start]] if group is not None else label
    cells = [np.flatnonzero(of_person == cell) for cell in np.unique(of_person)]
    drawn = np.empty(draws)
    for b in range(draws):
        chosen = np.concatenate([s[rng.integers(len(s), size=len(s))] for s in cells])
        rows = chosen if group is None else order[_spans(start[chosen], count[chosen])]
        drawn[b] = metric(*(score[rows] for score in scores), truth[rows])
    return _percentiles(float(metric(*scores, truth)), drawn, level)


def _percentiles(value: float, drawn: Floats, level: float) -> Estimate:
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(value, float(low), float(high), 1)


def _sorted(person: Ints) -> tuple[Ints, Ints, Ints]:
    """The rows person by person, where each person starts there, and how many rows each has."""
    order = np.argsort(person, kind="stable")
    _, start, count = np.unique(person[order], return_index=True, return_counts=True)
    return order, start, count


def _spans(start: Ints, count: Ints) -> Ints:
    """start, start + 1, ... (count of them) for each person, one after the other.

    >>> _spans(np.array([4, 0]), np.array([2, 3]))
    array([4, 5, 0, 1, 2])
    """
    before = np.cumsum(count) - count
    rows: Ints = np.arange(int(count.sum())) + np.repeat(start - before, count)
    return rows


def alone(metric: str, guesses: Guesses, rng: Rng, level: float) -> tuple[Estimate, str]:
    """The interval that fits the metric of one target model, and its name."""
    score, truth, weight = guesses.score, guesses.truth, guesses.weights
    group = guesses.group if guesses.grouped else None
    if metric == "auc":
        return delong(score, truth, level, group, weight), HOW_DELONG
    how = HOW_BOOTSTRAP if group is None else HOW_PEOPLE
    if metric == "balanced_accuracy":
        return _crossed(guesses, group, rng, level), how
    if metric == "best_balanced_accuracy" or metric in precision_recall.NAMES:
        return bootstrap(*weighed(metric, (score,), weight), truth, rng, level, 500, group=group), how
    name, _, alpha = metric.partition("@")
    mirrored = (score, truth) if name == "tpr" else (-score, ~truth)
    low, high = banded(*mirrored, float(alpha), level, guesses.group, weight)
    return Estimate(value(metric, guesses), low, high, 1), HOW_RATE


def alone_difference(metric: str, with_: Guesses, without: Guesses, rng: Rng, level: float) -> tuple[Estimate, str]:
    """The paired difference of a metric of one target model, with its interval and the method."""
    truth, weight = with_.truth, with_.weights
    group = with_.group if with_.grouped else None
    if metric == "auc":
        return delong_difference(with_.score, without.score, truth, level, group, weight), HOW_DELONG
    how = HOW_BOOTSTRAP if group is None else HOW_PEOPLE
    plain = metric == "balanced_accuracy" and group is None and weight is None
    if plain and min(np.count_nonzero(truth), np.count_nonzero(~truth)) > 1:
        return _crossed_difference(with_.score, without.score, truth, rng, level), how
    return bootstrap(*weighed(metric, (with_.score, without.score), weight), truth, rng, level, group=group), how


def _crossed_difference(with_: Floats, without: Floats, truth: Bools, rng: Rng, level: float) -> Estimate:
    """The difference of balanced accuracies; every second guess of each side that is drawn is in the first half."""
    others, members = redraw([np.flatnonzero(~truth), np.flatnonzero(truth)], 1000, rng)
    halves = Half(members[:, ::2], others[:, ::2]), Half(members[:, 1::2], others[:, 1::2])
    drawn = crossed_accuracies(with_, *halves) - crossed_accuracies(without, *halves)
    found = roc.balanced_accuracy(with_, truth) - roc.balanced_accuracy(without, truth)
    return _percentiles(found, drawn, level)


def value(metric: str, guesses: Guesses) -> float:
    """A metric of the guesses about one target model, with their weights."""
    group = guesses.group if guesses.grouped else None
    return metric_of(metric, guesses.score, guesses.truth, group, guesses.weights)


def metric_of(metric: str, score: Floats, truth: Bools, group: Ints | None, weight: Floats | None) -> float:
    """A metric of scores (G,) about one target model."""
    if metric == "balanced_accuracy":
        return roc.balanced_accuracy(score, truth, weight, group)
    if weight is None:
        return roc.metric(metric)(score, truth)
    return roc.weighable(metric)(score, truth, weight=weight)


def weighed(
    metric: str, scores: tuple[Floats, ...], weight: Floats | None
) -> tuple[Callable[..., float], tuple[Floats, ...]]:
    """A function of scores, then weights if there are any, then truth, and the arrays to redraw.

    It is the metric of one score, or that of the first minus that of the second.
    """
    if weight is None:
        plain = roc.metric(metric)
        return (lambda *s: plain(s[0], s[-1]) - (plain(s[1], s[-1]) if len(s) > 2 else 0.0)), scores
    rate = roc.weighable(metric)

    def gain(*s: Floats) -> float:
        *mine, w, truth = s
        found = [rate(score, truth.astype(bool), weight=w) for score in mine]
        return found[0] - (found[1] if len(found) > 1 else 0.0)

    return gain, (*scores, weight)


def banded(
    score: Floats,
    truth: Bools,
    alpha: float,
    level: float,
    group: Ints | None = None,
    weight: Floats | None = None,
) -> tuple[float, float]:
    """Interval of the TPR at the threshold that a share alpha of all non-members exceeds, which is itself unknown.

    Of n non-members, B ~ Bin(n, alpha) lie above that threshold, so it lies between two of their order statistics; the
    rate of members above either end has its Clopper-Pearson limit, and the two errors share 1 - level. Rows of one
    person (G,) and weights (G,) reduce n and the number of members to effective sample sizes (`people.trials`).
    """
    tail = (1 - level) / 4
    person = np.arange(len(score)) if group is None else group
    fewest, most, negatives = _band(score, ~truth, alpha, tail, person, weight)
    strict = score[truth] > negatives[fewest - 1] if fewest > 0 else np.zeros(np.count_nonzero(truth), dtype=bool)
    loose = score[truth] >= negatives[most] if most < len(negatives) else np.ones(np.count_nonzero(truth), dtype=bool)
    of_members = None if weight is None else weight[truth]
    low = _rate_bounds_of(strict, person[truth], of_members, 1 - 2 * tail)[0]
    return low, _rate_bounds_of(loose, person[truth], of_members, 1 - 2 * tail)[1]


def _band(
    score: Floats, others: Bools, alpha: float, tail: float, person: Ints, weight: Floats | None
) -> tuple[int, int, Floats]:
    """How many non-members lie above the threshold at least and at most, and their scores from the highest down."""
    order = np.flatnonzero(others)[np.argsort(score[others])[::-1]]
    w = np.ones(len(order)) if weight is None else weight[order]
    share = np.cumsum(w) / w.sum()
    n = int(trials(share <= alpha + _SLACK, person[order], None if weight is None else w) + _SLACK)
    ends = _binomial_quantile(np.array([tail, 1 - tail]), n, alpha) / n
    fewest, most = np.searchsorted(share, ends + _SLACK, side="right")
    return int(fewest), int(most), score[order]


def _binomial_quantile(level: Floats, n: int, p: float) -> Floats:
    """As scipy.stats.binom.ppf, whose import would take every worker most of a second."""
    above = np.ceil(bdtrik(level, n, p))
    below = np.maximum(above - 1, 0)
    return np.where(bdtr(below, n, p) >= level, below, above)


def _rate_bounds_of(hit: Bools, person: Ints, weight: Floats | None, level: float) -> tuple[float, float]:
    n = trials(hit, person, weight)
    rate = float(hit.mean() if weight is None else np.average(hit, weights=weight))
    k = rate * n
    # Where every trial is a row the count is whole again.
    return clopper_pearson(round(k) if abs(k - round(k)) < _SLACK * max(n, 1) else k, n, level)


def _crossed(guesses: Guesses, group: Ints | None, rng: Rng, level: float) -> Estimate:
    """Balanced accuracy redrawn within its two halves, so that no guess helps to choose its own threshold."""
    truth = guesses.truth
    half = halves(truth, group).astype(np.float64)
    strata = truth * 2 + half.astype(np.int64)
    cells = [np.flatnonzero(strata == cell) for cell in range(4)]
    if group is None and guesses.weights is None and all(len(rows) for rows in cells):
        rest_of_others, others, rest_of_members, members = redraw(cells, 500, rng)
        drawn = crossed_accuracies(guesses.score, Half(members, others), Half(rest_of_members, rest_of_others))
        return _percentiles(crossed_accuracy(guesses.score, truth, half > 0), drawn, level)

    def metric(score: Floats, half: Floats, weight: Floats, truth: Bools) -> float:
        return crossed_accuracy(score, truth, half > 0, None if guesses.weights is None else weight)

    scores = (guesses.score, half, guesses.weight)
    return bootstrap(metric, scores, truth, rng, level, 500, strata, group)
