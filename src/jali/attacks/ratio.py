"""RMIA in the form that needs no population: likelihood under the target against the mean over reference models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp

from jali.core.errors import JaliError
from jali.core.guesses import Shadows, Target
from jali.core.values import Bools, Floats, Unit


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
        use = shadows.observed[0] & ~shadows.member
        unit = shadows.unit(0)
        reference = _log_mean_exp(_log(shadows.value[0], unit), use)
        if self.lift != 1.0:
            halves = np.stack([reference + np.log1p(self.lift), np.full_like(reference, np.log1p(-self.lift))])
            reference = np.asarray(logsumexp(halves, axis=0)) - np.log(2)
        return np.asarray(_log(target.value[0], unit) - reference)


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


def _log_mean_exp(value: Floats, use: Bools) -> Floats:
    """Log of the mean of exp(value) over the used cells of each row; over all used cells where a row has none."""
    there, empty = np.where(use, value, -np.inf), ~use.any(axis=1)
    there[empty] = 0.0
    rows: Floats = np.asarray(logsumexp(there, axis=1)) - np.log(np.maximum(use.sum(axis=1), 1))
    if empty.any():
        rows[empty] = logsumexp(value[use]) - np.log(use.sum())
    return rows
