"""Several targets at once: moments of one signal over the set of shadow models that each target has."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from jali.core.guesses import Shadows, Target
from jali.core.values import Bools, Floats
from jali.stats.moments import Moments, first_seen, moments_of_sets

Scores = Callable[[Floats, Shadows, Bools], Floats]


def of_one(scores: Scores, target: Target, shadows: Shadows) -> Floats:
    """The score (N,) of one target that has all shadow models."""
    everybody = np.ones((1, shadows.member.shape[1]), dtype=bool)
    return np.asarray(scores(target.value[:, None], shadows, everybody)[0])


def outside(shadows: Shadows, sets: Bools) -> list[Moments]:
    """The moments over the out-models of each record, for each set of models (T, K)."""
    return _side(shadows, shadows.observed[0] & ~shadows.member, sets)


def inside(shadows: Shadows, sets: Bools, variances: bool = True) -> list[Moments]:
    """The moments over the in-models of each record, for each set of models (T, K), with or without variances."""
    return _side(shadows, shadows.observed[0] & shadows.member, sets, variances)


def _side(shadows: Shadows, use: Bools, sets: Bools, variances: bool = True) -> list[Moments]:
    level = first_seen(shadows.value[0], shadows.observed[0])
    return moments_of_sets(shadows.value[0], use, level, sets, variances)
