"""Known additions planted in an explanation, and what an attacker who knew them would gain.

The explanation's own signals are shuffled between the models of each record, so that they tell nothing, and one of them
is replaced by noise around the record's level with a shift for members. Shifts differ from record to record by as much
as their mean: real ones differ, and an attack that finds only a common shift must not pass for one that finds all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from jali.audit.trials import Trial
from jali.core.guesses import Guesses
from jali.core.values import Bools, Evidence, Floats, Ints, Rng, Unit
from jali.stats.roc import auc

EXACT = 1e-9
LARGEST = 4.0  # shift in deviations, root mean square
JUDGED = 20_000  # guesses from which it is computed what a shift adds, at most
DRAWN = 4  # times that these are made
STEPS = 30  # of Newton's method
HALVINGS = 12  # of the range in which a shift is sought


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
        """Log-odds by a logistic regression of the truth on the scores (Newton's method, a faint ridge)."""
        x = (baseline.score - baseline.score.mean()) / max(float(baseline.score.std()), EXACT)
        design = np.stack([np.ones(len(x)), x], axis=1)
        weight = np.zeros(2)
        for _ in range(STEPS):
            p = expit(design @ weight)
            curvature = (design * (p * (1 - p))[:, None]).T @ design + np.eye(2)
            weight = weight + np.linalg.solve(curvature, design.T @ (baseline.truth - p) - weight)
        return Ideal(baseline, np.asarray(weight[1] * x))

    def gained(self, shift: Floats, noise: Floats) -> Floats:
        """What the likelihood ratio of the planted signal adds to the AUC of each target (T,).

        shift, noise (G,): of each guess, in deviations; the ratio is shift (noise + shift truth - shift / 2).
        """
        ratio = shift * (noise + shift * (self.baseline.truth - 0.5))
        return aucs(replace(self.baseline, score=self.odds + ratio)) - aucs(self.baseline)

    def shift_for(self, size: float, rng: Rng) -> float | None:
        """The root mean square of the shifts that add so much on average; None where the AUC would reach 1."""
        some = np.arange(0, len(self.odds), -(-len(self.odds) // JUDGED))
        small = Ideal(self.baseline.pick(some), self.odds[some])
        if size == 0:
            return 0.0
        if float(aucs(self.baseline).mean()) + size >= 1:
            return None
        each = spread(1.0, rng.normal(size=int(self.baseline.record.max()) + 1))[small.baseline.record]
        noise = rng.normal(size=(DRAWN, len(some)))
        low, high = 0.0, LARGEST
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            enough = np.mean([small.gained(middle * each, one) for one in noise]) >= size
            low, high = (low, middle) if enough else (middle, high)
        return high


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

    The shifts of records are normal with a deviation equal to their mean, and root mean square `shift`.
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
    deviation = math.sqrt(float((rest**2).sum()) / max(float((some.sum(axis=1) - 1).clip(0).sum()), 1.0)) or 1.0
    noise = rng.normal(size=some.shape)
    each = spread(shift, rng.normal(size=len(some)))
    value[first] = np.where(some, level + deviation * (noise + each[:, None] * found.member), 0.0)
    observed = np.concatenate([found.observed[:first], np.repeat(some[None], len(value) - first, axis=0)])
    units = (*found.units[:first], Unit.PLAIN, *found.units[first + 1 :])
    planted = Evidence(found.names, np.where(observed, value, 0.0), observed, found.member, units)
    return Leak(planted, each, noise)


def shuffled(some: Bools, rng: Rng) -> Ints:
    """For each cell (N, M) the model of the same record from which it takes its value; only cells in `some` move."""
    drawn = np.where(some, rng.random(some.shape), np.inf)
    places = np.argsort(~some, axis=1, kind="stable")
    sources = np.argsort(drawn, axis=1, kind="stable")
    moving = np.arange(some.shape[1]) < some.sum(axis=1, keepdims=True)
    out = np.broadcast_to(np.arange(some.shape[1]), some.shape).copy()
    np.put_along_axis(out, places, np.where(moving, sources, places), axis=1)
    return out
