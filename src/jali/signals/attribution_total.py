"""Sum of the attributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.values import Floats, Seen


@dataclass(frozen=True)
class AttributionTotal:
    """Sum of the attributions, signed towards the true label: often the score itself.

    t = sum_j a_j where the predicted class is the true one, and minus that where it is not. Complete attributions sum
    to the score of the predicted class over a baseline, input x gradient of a linear model to its score without the
    intercept, so a decision with such an explanation reveals its score.

    Completeness: Sundararajan, Taly and Yan, Axiomatic Attribution for Deep Networks, ICML 2017; the signal is ours.

    >>> from jali.core.explanation import Attribution
    >>> seen = {"y": lambda: np.array([0]), "decision": lambda: np.array([1]), "attribution": lambda: given}
    >>> given = Attribution(np.array([[3.0, -1.0]]))
    >>> AttributionTotal()(Seen(seen))
    array([-2.])
    """

    needs: ClassVar[frozenset[str]] = frozenset({"y", "decision", "attribution"})

    def __call__(self, seen: Seen) -> Floats:
        """Signed total (n,)."""
        return np.asarray(np.where(seen.decision == seen.y, 1.0, -1.0) * seen.attribution.value.sum(axis=1))
