"""Combined attack on several signals, without in-models for the scored records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.attacks._correlation import correlation
from jali.attacks._likelihood import TINY
from jali.core.errors import JaliError
from jali.core.guesses import Shadows, Target
from jali.core.values import Floats
from jali.stats.moments import Moments, moments, pooled_variance, whole


@dataclass(frozen=True)
class OfflineJoint:
    """Discriminant of all signals against the out-models, its direction learnt on the adversary's own rows.

    z_s = (t_s - mean_out) / sd_out with pooled sd (that of all records where there is only one shadow);
    score = d' (R + ridge I)^-1 z, with R the within-record correlation and d the mean standardised shift in - out over
    rows that some shadows trained on and others did not. Where there are none, d = 1: larger is more member-like. The
    adversary's own rows determine the direction and are never scored.

    Linear discriminant analysis (Fisher 1936) on the offline test of Carlini et al., S&P 2022.

    >>> shadow = Shadows(np.array([[[-1.0, 0.0, 1.0]]]), np.ones((1, 1, 3), bool), np.zeros((1, 3), bool))
    >>> OfflineJoint(ridge=0.0).score(Target(np.array([[3.0]]), np.ones((1, 1), bool)), shadow)
    array([3.])
    """

    ridge: float = 0.05
    requires: ClassVar[frozenset[str]] = frozenset({"out"})
    many: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.ridge < 0:
            raise JaliError(f"offline_joint: ridge must not be below 0, not {self.ridge}.")

    def score(self, target: Target, shadows: Shadows) -> Floats:
        """Discriminant (N,)."""
        z, shift = np.empty_like(target.value), np.ones(len(target.value))
        rest = np.empty_like(shadows.value)
        for s, (value, observed) in enumerate(zip(shadows.value, shadows.observed, strict=True)):
            use = observed & ~shadows.member
            outside = moments(value, use)
            z[s], shift[s] = self._standardised(target.value[s], outside, moments(value, observed & shadows.member))
            np.subtract(value, outside.mean[:, None], out=rest[s])
            rest[s][~use] = 0.0
        joint = correlation(rest)
        weight = np.linalg.solve(joint + self.ridge * np.eye(len(joint)), shift)
        return np.asarray(weight @ z)

    def _standardised(self, t: Floats, outside: Moments, inside: Moments) -> tuple[Floats, float]:
        everybody = whole(outside)
        within = pooled_variance(outside) if (outside.count > 1).any() else everybody[1]
        sd = np.sqrt(max(within, TINY))
        mean = np.where(outside.count > 0, outside.mean, everybody[0])
        both = (inside.count > 0) & (outside.count > 0)
        shift = float(((inside.mean - outside.mean)[both] / sd).mean()) if both.any() else 1.0
        return (t - mean) / sd, shift
