"""One-sided likelihood ratio test without in-models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.special import log_ndtr

from jali.attacks._likelihood import TINY
from jali.attacks._sets import of_one, outside
from jali.core.guesses import Shadows, Target
from jali.core.values import Bools, Floats, Ints
from jali.stats.moments import Moments, pooled_variance, predictive, whole


@dataclass(frozen=True)
class OfflineLRT:
    """How improbable so large a signal is for a record that was not trained on, one-sided.

    score = -log P(T >= t) with T ~ N(mean_out, variance_out), the variance `pooled` over records ("global") or each
    `record`'s own ("local"), or T ~ Student-t with k - 1 degrees of freedom from the record's own k shadows (`student`)
    or under a normal-inverse-gamma prior worth `prior` shadows (`shrunken`). On a log distance this is the log-normal
    test CFD-LRT. It is one-sided because a density would also flag records with unusually low signals.

    Carlini et al., S&P 2022; Pawelczyk et al., AISTATS 2023 (the counterfactual-distance form).

    >>> shadow = Shadows(np.array([[[-1.0, 0.0, 1.0]]]), np.ones((1, 1, 3), bool), np.zeros((1, 3), bool))
    >>> np.exp(-OfflineLRT().score(Target(np.array([[1.96]]), np.ones((1, 1), bool)), shadow)).round(4)
    array([0.025])
    """

    spread: Literal["pooled", "record", "student", "shrunken"] = "pooled"
    prior: float = 11.0
    requires: ClassVar[frozenset[str]] = frozenset({"out"})
    many: ClassVar[bool] = False

    def score(self, target: Target, shadows: Shadows) -> Floats:
        """Negative log tail probability (N,)."""
        return of_one(self.scores, target, shadows)

    def scores(self, value: Floats, shadows: Shadows, sets: Bools) -> Floats:
        """Negative log tail probabilities (T, N) of several targets."""
        return np.stack([self._tail(*two) for two in zip(value[0], outside(shadows, sets), strict=True)])

    def _tail(self, value: Floats, others: Moments) -> Floats:
        everybody = whole(others)
        thin = others.count < 2
        centre = np.where(thin, everybody[0], others.mean)
        if self.spread == "shrunken":
            freedom, _, scale2 = predictive(others, self.prior, everybody)
            tail = _student_tail((value - centre) / np.sqrt(scale2), freedom)
        else:
            pooled = pooled_variance(others)
            own = pooled if self.spread == "pooled" else np.maximum(others.variance, 1e-6 * pooled)
            z = (value - centre) / np.sqrt(np.maximum(np.where(thin, everybody[1], own), TINY))
            exact = self.spread == "student"
            tail = _student_tail(z, np.maximum(others.count - 1, 1)) if exact else log_ndtr(-z)
        return np.asarray(-tail)


def _student_tail(z: Floats, freedom: Floats | Ints) -> Floats:
    """The log tail probability of Student's t."""
    from scipy.stats import t as student  # it takes most of a second to load, and the default does without

    return np.asarray(student.logsf(z, freedom))
