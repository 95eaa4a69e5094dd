"""Difficulty calibration: the signal less its mean over shadow models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.guesses import Shadows, Target
from jali.core.values import Floats
from jali.stats.moments import moments, total


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
        use = shadows.observed[0] & ~shadows.member
        outside = moments(shadows.value[0], use)
        mean = np.where(outside.count > 0, outside.mean, total(shadows.value[0], use)[0])
        return np.asarray(target.value[0] - mean)
