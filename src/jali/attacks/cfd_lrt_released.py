"""The counterfactual likelihood ratio test as released by the authors, for comparison only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from jali.core.guesses import Shadows, Target
from jali.core.values import Floats
from jali.stats.moments import moments


@dataclass(frozen=True)
class CFDLRTReleased:
    """One-sided test against all shadow models, whether or not they trained on the record.

    Z = (t - mean) / sqrt(v) over all N shadows, score = log P(T <= Z) with T Student-t, N - 1 degrees of freedom; v is
    the mean over records of the population variance (`global`) or the record's own sample variance + 1e-5 (`local`).
    In the released game the shadows trained on the scored non-members, so this recognises non-members because the
    shadows memorised them. The clean test is `offline_lrt`, which uses shadows that did not see the record.

    Pawelczyk, Lakkaraju and Neel, AISTATS 2023 (released code; the paper has the normal distribution function).

    >>> shadow = Shadows(np.array([[[-1.0, 0.0, 1.0]]]), np.ones((1, 1, 3), bool), np.zeros((1, 3), bool))
    >>> np.exp(CFDLRTReleased(variance="local").score(Target(np.array([[0.0]]), np.ones((1, 1), bool)), shadow))
    array([0.5])
    """

    variance: Literal["global", "local"] = "global"
    requires: ClassVar[frozenset[str]] = frozenset()
    many: ClassVar[bool] = False

    def score(self, target: Target, shadows: Shadows) -> Floats:
        """Log distribution function (N,)."""
        from scipy.stats import t as student  # it takes most of a second to load

        found = moments(shadows.value[0], shadows.observed[0])
        k = np.maximum(found.count, 1)
        common = float((found.variance * (k - 1) / k).mean()) + 1e-12
        spread = np.sqrt(common if self.variance == "global" else found.variance + 1e-5)
        return np.asarray(student.logcdf((target.value[0] - found.mean) / spread, np.maximum(k - 1, 1)))
