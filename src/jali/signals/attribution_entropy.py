"""Entropy of the attributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import entr

from jali.core.values import Floats, Seen
from jali.signals._norms import shares


@dataclass(frozen=True)
class AttributionEntropy:
    """How evenly the explanation is spread over the columns, whatever its size.

    t = -sum_j p_j log p_j, p_j = |a_j| / ||a||_1. Explanations of members tend to be flatter; unlike a norm, the
    entropy does not change when explanations are scaled.
    Shokri, Strobel and Zick, On the Privacy Risks of Model Explanations, AIES 2021 (flatness); the signal is ours.

    >>> from jali.core.explanation import Attribution
    >>> AttributionEntropy()(Seen({"attribution": lambda: Attribution(np.array([[1.0, -1.0]]))})).round(4)  # log 2
    array([0.6931])
    """

    needs: ClassVar[frozenset[str]] = frozenset({"attribution"})
    usual: ClassVar[bool] = False

    def __call__(self, seen: Seen) -> Floats:
        """Entropy (n,)."""
        return np.asarray(entr(shares(seen.attribution.value)).sum(axis=1))
