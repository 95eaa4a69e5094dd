"""Logistic regression with a bound on how far one training record can move its scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from jali.core.values import Bools, Dataset, Rng, frozen
from jali.defend._dp.checks import bounded, positive
from jali.defend._dp.erm import minimisers
from jali.defend._dp.scaling import frame, labels
from jali.defend._dp.stability import Stability, StableEnsemble


@dataclass(frozen=True)
class ClippedLogistic:
    """Logistic regression without noise and with a proven stability bound, which some private explainers need.

    The exact minimiser of  C sum_i loss_i(w) + ||w||^2 / 2  over rows scaled by public constants, clipped to length
    `bound` and given a constant one, so that the intercept is penalised like every weight. With R = sqrt(bound^2 + 1),
    replacing one record moves w by at most 2 C R, a score by 2 C R ||x|| and a probability by C R^2 / 2 for ||x|| <= R.
    The model carries this bound for the explainers that need it. It is `dp_logistic` before the noise, and has no
    privacy guarantee of its own.

    Chaudhuri, Monteleoni and Sarwate, JMLR 2011 (stability of regularised fits).

    >>> from jali.core.values import Column, Schema
    >>> data = Dataset(np.array([[-1.0], [1.0]]), [0, 1], Schema((Column("x", low=-1, high=1),)))
    >>> fitted = ClippedLogistic(bound=1.0).fit(data, np.ones((2, 1), dtype=bool), [np.random.default_rng(0)])
    >>> fitted.logits(np.array([[1.0]])).round(4)  # the root of w = 2 / (1 + e^w), shared by two classes
    array([[[-0.3374,  0.3374]]])
    >>> float(fitted[0].stability.probability(np.array([[1.0]]))[0].round(4))
    1.0
    """

    bound: float = 0.0
    C: float = 1.0
    scaling: Literal["bounds", "declared"] = "bounds"

    def __post_init__(self) -> None:
        positive("clipped_logistic", "C", self.C)
        bounded("clipped_logistic", self.bound)

    def fit(self, data: Dataset, member: Bools, rngs: list[Rng]) -> StableEnsemble:
        """Train one model per column of member (N, M); nothing is drawn at random."""
        member = frozen(member, bool, (len(data), len(rngs)), "member")
        known = frame("clipped_logistic", data.schema, self.bound, self.scaling)
        start = np.zeros((1, len(known.scale) + 1))
        sets = [data.rows(mine) for mine in member.T]
        rows = [(known.cut(s.X), labels("clipped_logistic", s)) for s in sets]
        weights = [minimisers(A, y, 1 / self.C, start, known.radius) for A, y in rows]
        return StableEnsemble(known.ensemble(np.concatenate(weights)), Stability(known, self.C))
