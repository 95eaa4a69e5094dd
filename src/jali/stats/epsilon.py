"""Lower bounds on epsilon from guesses, and the largest bound that a given number of draws could show."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betaincinv

from jali.core.errors import JaliError
from jali.core.values import Bools, Floats, Ints, Rng
from jali.stats.intervals import rate_bounds
from jali.stats.roc import checked, steps


def epsilon_lower_bound(score: Floats, truth: Bools, delta: float = 0.0, level: float = 0.95, *, rng: Rng) -> float:
    """A lower bound on the epsilon of any (epsilon, delta)-DP mechanism that could have produced these guesses.

    max( ln((TPR_lo - delta) / FPR_hi), ln((TNR_lo - delta) / FNR_hi), 0 ) at one threshold. The threshold is chosen on
    a random half of the members and of the non-members, the rates are counted on the other half, so the choice
    needs no correction. The error 1 - level is split in two: TPR_lo and FPR_hi are one-sided Clopper-Pearson bounds at
    (1 - level) / 2 each. TNR_lo = 1 - FPR_hi and FNR_hi = 1 - TPR_lo are the same two statements, so the maximum over
    both directions needs no correction either. The guesses must be independent given the truth: one draw of the
    mechanism each.

    >>> truth = np.arange(2000) < 1000
    >>> round(epsilon_lower_bound(truth.astype(float), truth, rng=np.random.default_rng(0)), 3)  # the ceiling for 500
    4.906
    """
    if not 0 <= delta <= 1:
        raise JaliError(f"delta must be a probability, not {delta}.")
    score, truth = checked(score, truth)
    choose, count = _halves(truth, rng)
    threshold = best_threshold(score[choose], truth[choose], delta, level)
    return epsilon_at(threshold, score[count], truth[count], delta, level)


def best_threshold(score: Floats, truth: Bools, delta: float = 0.0, level: float = 0.95) -> float:
    """The threshold with the largest bound on these guesses; the bound itself must then be computed on others.

    >>> best_threshold(np.array([0.0, 0.0, 1.0, 1.0]), np.array([False, False, True, True]))
    1.0
    """
    fp, tp, thresholds = steps(score, truth)
    return float(thresholds[np.argmax(_bounds(tp, int(tp[-1]), fp, int(fp[-1]), delta, level))])


def epsilon_at(threshold: float, score: Floats, truth: Bools, delta: float = 0.0, level: float = 0.95) -> float:
    """The lower bound at a threshold that was fixed without these guesses.

    >>> truth = np.arange(4000) < 2000
    >>> round(epsilon_at(0.5, truth.astype(float), truth), 2)
    6.29
    """
    score, truth = checked(score, truth)
    flagged = score >= threshold
    members = int(np.count_nonzero(truth))
    tp = np.array([np.count_nonzero(flagged & truth)])
    fp = np.array([np.count_nonzero(flagged & ~truth)])
    return max(0.0, float(_bounds(tp, members, fp, len(truth) - members, delta, level)[0]))


def epsilon_ceiling(n: int, level: float = 0.95, delta: float = 0.0) -> float:
    """The bound of a perfect attack with n draws from each of two neighbouring data sets.

    The draws that choose the threshold are not counted.

    Every member flagged and no non-member: TPR_lo = a^(1/n) = 1 - FPR_hi with a = (1 - level) / 2, so
    epsilon = ln((a^(1/n) - delta) / (1 - a^(1/n))). A claim above this cannot be refuted by n draws.

    >>> [round(epsilon_ceiling(n), 2) for n in (100, 1_000, 10_000)]
    [3.28, 5.6, 7.9]
    >>> round(epsilon_ceiling(1_000, delta=0.5), 2)
    4.9
    """
    if n < 1:
        raise JaliError(f"A ceiling needs at least one draw from each of the two neighbouring data sets, not {n}.")
    log_rate = math.log((1 - level) / 2) / n
    left = math.exp(log_rate) - delta
    return max(0.0, math.log(left) - math.log(-math.expm1(log_rate))) if left > 0 else 0.0


def event_bound(more: Ints, less: Ints, n: int, delta: float, error: float) -> Floats:
    """Lower bounds on epsilon from events seen `more` times in n draws of one data set and `less` times in the other.

    Each bound is wrong with probability `error` at most. Given more + less, `more` is binomial with chance r / (1 + r)
    if both rates are small, where r is the ratio of the rates; larger rates vary less, so that the Clopper-Pearson
    bound on r is then cautious. One statement about the ratio is sharper than one about each rate. With delta,
    epsilon >= ln(r (1 - delta / p)), and a tenth of the error bounds the rate p of the first from below.

    >>> event_bound(np.array([2000, 20]), np.array([0, 0]), 2000, 0.0, 0.025).round(2).tolist()
    [6.29, 1.6]
    """
    counted = np.maximum(more, 1)
    share = betaincinv(counted, less + 1, 0.9 * error if delta else error)
    ratio = np.where(more > 0, share / (1 - share), 0.0)
    if delta:
        rate = np.where(more > 0, betaincinv(counted, n - counted + 1, 0.1 * error), 0.0)
        ratio = ratio * np.maximum(0.0, 1 - delta / np.maximum(rate, 1e-300))
    logs: Floats = np.log(np.maximum(ratio, np.finfo(np.float64).tiny))
    return np.maximum(logs, 0.0)


def rarest_event(n: int, epsilon: float, delta: float, error: float, power: float = 0.9) -> float | None:
    """The least rate at which an event that never occurs in the other data set shows more than epsilon, mostly.

    `power` is how often n draws show it. None if n draws cannot show it at any rate.

    >>> round(1 / rarest_event(2000, 1.0, 0.0, 0.025))
    121
    """
    counts = np.arange(1, n + 1)
    enough = np.flatnonzero(event_bound(counts, np.zeros_like(counts), n, delta, error) > epsilon)
    if not len(enough):
        return None
    least = int(counts[enough[0]])
    return float(betaincinv(least, n - least + 1, power))


def _bounds(tp: Ints, members: int, fp: Ints, others: int, delta: float, level: float) -> Floats:
    """The larger of the two directions' bounds at each threshold, before it is cut at zero."""
    tpr, _ = rate_bounds(tp, members, level)
    _, fpr = rate_bounds(fp, others, level)
    ratio = np.maximum((tpr - delta) / fpr, (1 - fpr - delta) / (1 - tpr))
    logs: Floats = np.log(np.maximum(ratio, np.finfo(np.float64).tiny))
    return logs


def _halves(truth: Bools, rng: Rng) -> tuple[Ints, Ints]:
    """A random half of the members and of the non-members, and the rest."""
    strata = [rng.permutation(np.flatnonzero(truth)), rng.permutation(np.flatnonzero(~truth))]
    if min(map(len, strata)) < 2:
        raise JaliError("A bound on epsilon needs at least two members and two non-members to split into halves.")
    first = [s[: len(s) // 2] for s in strata]
    rest = [s[len(s) // 2 :] for s in strata]
    return np.concatenate(first), np.concatenate(rest)
