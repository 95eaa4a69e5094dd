"""Online likelihood ratio attack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from jali.attacks._likelihood import log_ratio
from jali.attacks._sets import inside, of_one, outside
from jali.core.guesses import Shadows, Target
from jali.core.values import Bools, Floats


@dataclass(frozen=True)
class LiRA:
    """Online likelihood ratio of one signal, a Gaussian or Student-t per record.

    score = log p(t | in) - log p(t | out), each side with its record's own shadow mean and a spread that is
    `pooled` (within-record variance averaged over records, in and out each on their own), `record` (each record's
    own), `shrunken` (normal-inverse-gamma prior worth `prior` shadows, Student-t predictive) or `common` (one
    variance for both sides, which only compares the distances to the two means).

    Carlini et al., Membership Inference Attacks From First Principles, S&P 2022; shrinkage: arXiv 2603.11799.

    >>> shadow = Shadows(np.array([[[0.0, 2.0, 4.0, 6.0]]]), np.ones((1, 1, 4), bool), np.array([[0, 0, 1, 1]]) > 0)
    >>> LiRA().score(Target(np.array([[5.0]]), np.ones((1, 1), bool)), shadow)  # ((5-1)^2 - (5-5)^2) / (2*2)
    array([4.])
    """

    spread: Literal["common", "pooled", "record", "shrunken"] = "pooled"
    prior: float = 11.0
    requires: ClassVar[frozenset[str]] = frozenset({"in", "out"})
    many: ClassVar[bool] = False

    def score(self, target: Target, shadows: Shadows) -> Floats:
        """Log-likelihood ratio (N,)."""
        return of_one(self.scores, target, shadows)

    def scores(self, value: Floats, shadows: Shadows, sets: Bools) -> Floats:
        """Log-likelihood ratios (T, N) of several targets."""
        sides = zip(value[0], inside(shadows, sets), outside(shadows, sets), strict=True)
        return np.stack([log_ratio(*three, self.spread, self.prior) for three in sides])
