"""Known additions planted in an explanation, and what an attacker who knew them would gain.

The explanation's own signals are shuffled between the models of each record, so that they tell nothing, and one of them
is replaced by noise around the record's level with a shift for members. Shifts differ from record to record by as much
as their mean: real ones differ, and an attack that finds only a common shift must not pass for one that finds all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import expit, ndtri

from jali.audit.evidence import read_only
from jali.audit.trials import Trial
from jali.core.guesses import Guesses, rows_by_unit
from jali.core.values import Bools, Evidence, Floats, Ints, Rng, Unit
from jali.stats.roc import auc

EXACT = 1e-9
LARGEST = 4.0  # shift in deviations, root mean square
JUDGED = 20_000  # guesses from which it is computed what a shift adds, at most
DRAWN = 4  # times that these are made
BENDS = (-1.5, -0.75, 0.0, 0.75, 1.5)  # normal quantiles at which the line of log-odds may bend
RIDGE = np.array([1.0, 1.0] + [30.0] * len(BENDS))  # of level, slope and bends: few guesses show no bend
STEPS = 30  # of Newton's method
FINEST = 4096  # parts of the range in which a shift is sought


@dataclass(frozen=True)
class Leak:
    """Evidence with a planted addition: the shift of each record (N,) in deviations, and the noise (N, M) beside it."""

    evidence: Evidence
    shift: Floats
    noise: Floats


@dataclass(frozen=True)
class Ideal:
    """An attacker who knows the shift of every record: a baseline's guesses, and their scores (G,) as log-odds."""

    baseline: Guesses
    odds: Floats

    @staticmethod
    def of(baseline: Guesses) -> Ideal:
        """Log-odds by a logistic regression of the truth on the scores' ranks (Newton's method, a faint ridge).

        Scores of one target need not be on the scale of another, and may have far tails: so they are ranked by target,
        and log-odds are a broken line in normal quantiles of the ranks.
        """
        x = _normal_scores(baseline)
        bends = [np.maximum(x - at, 0.0) for at in BENDS]
        design = np.stack([np.ones(len(x)), x, *bends], axis=1)
        odds = np.empty(len(x))
        # Those of one half of the records come from the other: what a line fits by chance would count as known.
        half = baseline.record % 2 == 0
        for mine in (half, ~half):
            odds[mine] = design[mine] @ _logistic(design[~mine], baseline.truth[~mine], RIDGE)
        # Half the records say more than there is: what does not carry over from one half to the other is taken off.
        line = np.stack([np.ones(len(x)), odds], axis=1)
        level, slope = _logistic(line, baseline.truth, RIDGE[:2])
        return Ideal(baseline, np.asarray(level + max(slope, 0.0) * odds))

    def gained(self, shift: Floats, noise: Floats) -> Floats:
        """What the likelihood ratio of the planted signal adds to the AUC of each target (T,).

        shift, noise (G,): of each guess, in deviations; the ratio is shift (noise + shift truth - shift / 2).
        """
        ratio = shift * (noise + shift * (self.baseline.truth - 0.5))
        return aucs(replace(self.baseline, score=self.odds + ratio)) - self._alone

    @cached_property
    def _alone(self) -> Floats:
        """The AUC of each target (T,) by the log-odds."""
        return aucs(replace(self.baseline, score=self.odds))

    def _expected(self, shift: Floats, noise: Floats) -> float:
        """The AUC to expect with the ratio: each guess is a member as probably as its log-odds say, and else is not.

        Who is a member by chance would move the AUC of a weak baseline by as much as small additions do.
        """
        ratio = [shift * (noise + side * shift / 2) for side in (1, -1)]
        score = np.concatenate([self.odds + ratio[0], self.odds + ratio[1]])
        truth = np.repeat([True, False], len(self.odds))
        return auc(score, truth, np.concatenate([expit(self.odds), expit(-self.odds)]))

    def shift_for(self, size: float, rng: Rng) -> float | None:
        """The root mean square of the shifts that add so much on average; None where the AUC would reach 1."""
        some = np.arange(0, len(self.odds), -(-len(self.odds) // JUDGED))
        small = Ideal(self.baseline.pick(some), self.odds[some])
        if size == 0:
            return 0.0
        alone = small._expected(np.zeros(len(some)), np.zeros(len(some)))
        if max(alone, float(aucs(self.baseline).mean())) + size >= 1:
            return None
        each = spread(1.0, rng.normal(size=int(self.baseline.record.max()) + 1))[small.baseline.record]
        noise = rng.normal(size=(DRAWN, len(some)))

        def beyond(at: int) -> float:
            shift = LARGEST * at / FINEST
            return float(np.mean([small._expected(shift * each, one) for one in noise])) - (alone + size)

        return LARGEST * _first(beyond, FINEST, -size) / FINEST


def _first(beyond: Callable[[int], float], last: int, at_zero: float) -> int:
    """The first whole number up to the last at which a rising function is not below 0, with its value at 0.

    What shifts add grows about with their square: so the next number to try is where a line in squares reaches 0. An
    end of the range that stays where it was counts half each time, so that the other one moves beyond 0 (Illinois).

    >>> _first(lambda at: at**2 - 50.0, 64, -50.0)
    8
    """
    low = 0
    high = last
    below = at_zero
    above = -8 * at_zero  # a first guess
    while high - low > 1:
        part = below / (below - above) if above > below else 0.5
        middle = min(max(round(math.sqrt(low**2 + part * (high**2 - low**2))), low + 1), high - 1)
        found = beyond(middle)
        if found >= 0:
            high = middle
            above = found
            below /= 2
        else:
            low = middle
            below = found
            above /= 2
    return high


def _logistic(design: Floats, truth: Bools, ridge: Floats) -> Floats:
    """Weights (W,) of a logistic regression of the truth (G,) on columns (G, W), each with its ridge (W,)."""
    ridge = np.diag(ridge)
    weight = np.zeros(len(ridge))
    for _ in range(STEPS):
        p = expit(design @ weight)
        curvature = (design * (p * (1 - p))[:, None]).T @ design + ridge
        weight = weight + np.linalg.solve(curvature, design.T @ (truth - p) - ridge @ weight)
    return weight


def _normal_scores(guesses: Guesses) -> Floats:
    """The normal quantiles (G,) of scores among those of their target: the mean of that among members and among others.

    Of ranks among both together the middle depends on how many members there are, and a strong baseline, which changes
    from one side to the other there, would seem weaker over several targets than it is in each. Beyond all scores of
    one side the place among these goes on as that among the other side does. Equal scores share a place; each guess
    counts half itself.

    >>> one = Guesses([5.0, 7.0, 5.0, 1e9], [True, False, True, False], [0, 0, 0, 0], [0, 1, 2, 3])
    >>> _normal_scores(one).round(2)
    array([-0.67,  0.  , -0.67,  1.35])
    """
    out = np.empty(len(guesses.score))
    for rows in rows_by_unit(guesses.unit):
        score = guesses.score[rows]
        truth = guesses.truth[rows]
        members = np.sort(score[truth])
        others = np.sort(score[~truth])
        if not len(members) or not len(others):
            out[rows] = _place(score, np.sort(score))
            continue
        out[rows] = (_place(score, members) + _place(score, others)) / 2
        for side, other in ((members, others), (others, members)):
            inner = np.clip(score, side[0], side[-1])
            out[rows] += (_place(score, other) - _place(inner, other)) / 2
    return out


def _place(score: Floats, among: Floats) -> Floats:
    """The normal quantile of each score (n,) among some that are sorted (m,)."""
    below = np.searchsorted(among, score, "left")
    up_to = np.searchsorted(among, score, "right")
    least = 0.5 / len(among)
    return np.asarray(ndtri(np.clip((below + up_to) / 2 / len(among), least, 1 - least)))


def aucs(guesses: Guesses) -> Floats:
    """The AUC of each target (T,)."""
    units = [guesses.unit == u for u in np.unique(guesses.unit)]
    return np.array([auc(guesses.score[mine], guesses.truth[mine]) for mine in units])


def spread(shift: float, normal: Floats) -> Floats:
    """Shifts with root mean square `shift` and a deviation equal to their mean, from standard normal numbers (N,).

    >>> spread(1.0, np.array([-1.0, 0.0, 1.0])).round(2)
    array([0.  , 0.71, 1.41])
    """
    return np.asarray(shift / math.sqrt(2) * (1 + normal))


def plant(evidence: Evidence, trial: Trial, shift: float, rng: Rng) -> Leak:
    """The signals of a trial with the explanation's shuffled, and the first of them replaced by noise with a shift.

    The shifts of records are normal with a deviation equal to their mean, and root mean square `shift`. Each addition
    is planted among signals that are shuffled anew: with one shuffle for several, limits came out lower.
    """
    found = evidence.pick(trial.names)
    value = found.value.copy()
    some = np.asarray(found.observed[trial.base :].all(axis=0))
    order = shuffled(some, rng)
    for s in range(trial.base, len(value)):
        value[s] = np.take_along_axis(value[s], order, axis=1)
    first = trial.base
    cells = np.maximum(some.sum(axis=1, keepdims=True), 1)
    level = np.where(some, value[first], 0.0).sum(axis=1, keepdims=True) / cells
    rest = np.where(some, value[first] - level, 0.0)
    deviation = _deviation(rest, max(float((some.sum(axis=1) - 1).clip(0).sum()), 1.0)) or 1.0
    noise = rng.normal(size=some.shape)
    each = spread(shift, rng.normal(size=len(some)))
    value[first] = np.where(some, level + deviation * (noise + each[:, None] * found.member), 0.0)
    observed = np.concatenate([found.observed[:first], np.repeat(some[None], len(value) - first, axis=0)])
    units = (*found.units[:first], Unit.PLAIN, *found.units[first + 1 :])
    if not observed.all():
        value[~observed] = 0.0
    read_only(value, observed)
    return Leak(Evidence.of_checked(found.names, value, observed, found.member, units), each, noise)


def _deviation(rest: Floats, freedom: float) -> float:
    """The root of the sum of squares by degrees of freedom, of numbers of any size: squares of large ones overflow.

    Numbers are divided by a power of two, which changes no digit.

    >>> _deviation(np.array([3.0, 4.0]) * 2.0**800, 1.0) / 2.0**800
    5.0
    """
    _, exponent = np.frexp(np.abs(rest).max(initial=0.0))
    small = np.ldexp(rest, -exponent)
    return float(np.ldexp(math.sqrt(float((small**2).sum()) / freedom), exponent))


def shuffled(some: Bools, rng: Rng) -> Ints:
    """For each cell (N, M) the model of the same record from which it takes its value; only cells in `some` move."""
    drawn = np.where(some, rng.random(some.shape), np.inf)
    places = np.argsort(~some, axis=1, kind="stable")
    sources = np.argsort(drawn, axis=1, kind="stable")
    moving = np.arange(some.shape[1]) < some.sum(axis=1, keepdims=True)
    out = np.broadcast_to(np.arange(some.shape[1]), some.shape).copy()
    np.put_along_axis(out, places, np.where(moving, sources, places), axis=1)
    return out
