"""RMIA in the form that needs no population: likelihood under the target against the mean over reference models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp

from jali.attacks._sets import of_one
from jali.core.errors import JaliError
from jali.core.guesses import Shadows, Target
from jali.core.values import Bools, Floats, Unit
from jali.stats.moments import BLOCK


@dataclass(frozen=True)
class Ratio:
    """Ratio of the target's value to its average over reference models; works from one reference.

    With q the probability of the label: score = log q_target - log q_ref, where q_ref = mean_out q when `lift` is 1,
    and q_ref = ((1 + lift) mean_out q + (1 - lift)) / 2 otherwise, the published correction for the in-models that an
    offline adversary does not have. Signals that are stored as log-odds, log-probabilities or probabilities are read as
    probabilities. The published test compares this ratio with the ratios of population records and a factor gamma; that
    is a monotone function of the ratio, so the ROC is the same. For any other signal t the same is done with q = e^t,
    which is the positive quantity behind a signal on the log scale; that is no longer the published attack.

    Zarifzadeh, Liu and Shokri, Low-Cost High-Power Membership Inference Attacks (RMIA), ICML 2024.

    >>> shadow = Shadows(np.log([[[0.2, 0.4]]]), np.ones((1, 1, 2), bool), np.zeros((1, 2), bool))
    >>> np.exp(Ratio().score(Target(np.log([[0.6]]), np.ones((1, 1), bool)), shadow)).round(6)
    array([2.])
    """

    lift: float = 1.0
    requires: ClassVar[frozenset[str]] = frozenset({"out"})
    many: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 <= self.lift <= 1:
            raise JaliError(f"ratio: lift must lie between 0 and 1, not {self.lift}.")

    def score(self, target: Target, shadows: Shadows) -> Floats:
        """Log ratio (N,)."""
        return of_one(self.scores, target, shadows)

    def scores(self, value: Floats, shadows: Shadows, sets: Bools) -> Floats:
        """Log ratios (T, N) of several targets."""
        unit = shadows.unit(0)
        use = shadows.observed[0] & ~shadows.member
        reference = _log_mean_exp(_log(shadows.value[0], unit), shadows.observed[0], use, sets)
        if self.lift != 1.0:
            halves = np.stack([reference + np.log1p(self.lift), np.full_like(reference, np.log1p(-self.lift))])
            reference = np.asarray(logsumexp(halves, axis=0)) - np.log(2)
        return np.asarray(_log(value[0], unit) - reference)


def _log(value: Floats, unit: Unit) -> Floats:
    """The logarithm of the quantity behind a signal: of the probability, where the unit tells it.

    >>> np.exp(_log(np.array([np.log(3.0)]), Unit.LOG_ODDS)).round(6), _log(np.array([0.25]), Unit.PROBABILITY).round(2)
    (array([0.75]), array([-1.39]))
    """
    if unit is Unit.LOG_ODDS:
        return np.asarray(-np.logaddexp(0.0, -value))
    if unit is Unit.PROBABILITY:
        return np.log(np.maximum(value, np.finfo(np.float64).tiny))
    return value


def _log_mean_exp(value: Floats, observed: Bools, use: Bools, sets: Bools) -> Floats:
    """Log of the mean of exp(value) over the used cells (N, K) of each row, for each set of models (T, K).

    Over all used cells of a set where a row has none. As in `moments_of_sets`, models outside a set are multiplied by
    zero, and what is taken off before the exponential does not depend on membership.
    """
    highest = np.where(observed, value, -np.inf).max(axis=1, initial=-np.inf)
    highest = np.where(np.isfinite(highest), highest, 0.0)
    weight = sets.astype(np.float64)
    out = np.empty((len(sets), len(value)))
    step = max(1, BLOCK // max(1, value.shape[1]))
    for start in range(0, len(value), step):
        rows = slice(start, start + step)
        mine = use[rows].astype(np.float64)
        raised = np.exp(np.where(use[rows], value[rows] - highest[rows, None], -np.inf))
        count = weight @ mine.T
        with np.errstate(divide="ignore", invalid="ignore"):  # rows without a used cell
            out[:, rows] = np.log(weight @ raised.T) + highest[rows] - np.log(count)
    for t, row in enumerate(out):
        _mend(row, value, use, sets[t])
    return out


def _mend(row: Floats, value: Floats, use: Bools, models: Bools) -> None:
    """Enter the rows (N,) without a used cell, and those whose cells are far below one outside the set (K,)."""
    lost = np.flatnonzero(~np.isfinite(row))
    if not len(lost):
        return
    use = use & models
    there = use[lost]
    some = there.any(axis=1)
    if some.any():
        raised = np.asarray(logsumexp(np.where(there[some], value[lost[some]], -np.inf), axis=1))
        row[lost[some]] = raised - np.log(there[some].sum(axis=1))
    if not some.all():  # without any answer there is nothing to compare with
        row[lost[~some]] = logsumexp(value[use]) - np.log(use.sum()) if use.any() else 0.0
