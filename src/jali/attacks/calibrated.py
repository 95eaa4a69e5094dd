"""Difficulty calibration: the signal less its mean over shadow models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.attacks._sets import of_one, outside
from jali.core.guesses import Shadows, Target
from jali.core.values import Bools, Floats
from jali.stats.moments import whole


@dataclass(frozen=True)
class Calibrated:
    """How far the signal lies above its mean over shadows that did not train on the record.

    score = t - mean_out(t); a record without such a shadow is compared with the mean of all. Works from one shadow.
    Watson et al., On the Importance of Difficulty Calibration in Membership Inference Attacks, ICLR 2022.

    >>> shadow = Shadows(np.array([[[1.0, 3.0, 9.0]]]), np.ones((1, 1, 3), bool), np.array([[False, False, True]]))
    >>> Calibrated().score(Target(np.array([[5.0]]), np.ones((1, 1), bool)), shadow)
    array([3.])
    """

    requires: ClassVar[frozenset[str]] = frozenset({"out"})
    many: ClassVar[bool] = False

    def score(self, target: Target, shadows: Shadows) -> Floats:
        """Difference to the shadows' mean (N,)."""
        return of_one(self.scores, target, shadows)

    def scores(self, value: Floats, shadows: Shadows, sets: Bools) -> Floats:
        """Differences (T, N) of several targets."""
        out = np.empty(value.shape[1:])
        for t, others in enumerate(outside(shadows, sets)):
            out[t] = value[0, t] - np.where(others.count > 0, others.mean, whole(others)[0])
        return out
