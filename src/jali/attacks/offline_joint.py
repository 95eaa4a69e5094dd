"""Combined attack on several signals, without in-models for the scored records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.attacks._correlation import correlations
from jali.attacks._likelihood import TINY
from jali.attacks._sets import inside, of_one, outside
from jali.core.errors import JaliError
from jali.core.guesses import Shadows, Target
from jali.core.values import Bools, Floats
from jali.stats.moments import Moments, pooled_variance, whole


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
        return of_one(self.scores, target, shadows)

    def scores(self, value: Floats, shadows: Shadows, sets: Bools) -> Floats:
        """Discriminants (T, N) of several targets."""
        z = np.empty_like(value)
        mean = np.empty_like(value)
        shift = np.empty((len(sets), len(value)))
        for s in range(len(value)):
            one = shadows.pick(slice(s, s + 1))
            sides = zip(outside(one, sets), inside(one, sets, variances=False), strict=True)
            for t, (others, members) in enumerate(sides):
                z[s, t], shift[t, s] = self._standardised(value[s, t], others, members)
                mean[s, t] = others.mean
        joint = correlations(shadows, sets, mean)
        weight = np.linalg.solve(joint + self.ridge * np.eye(len(value)), shift[:, :, None])
        return np.asarray(np.einsum("ts,stn->tn", weight[:, :, 0], z))

    def _standardised(self, t: Floats, outside: Moments, inside: Moments) -> tuple[Floats, float]:
        everybody = whole(outside)
        within = pooled_variance(outside) if (outside.count > 1).any() else everybody[1]
        sd = np.sqrt(max(within, TINY))
        mean = np.where(outside.count > 0, outside.mean, everybody[0])
        both = (inside.count > 0) & (outside.count > 0)
        shift = float(((inside.mean - outside.mean)[both] / sd).mean()) if both.any() else 1.0
        return (t - mean) / sd, shift
