"""Variance of the attributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core import Floats, Seen


@dataclass(frozen=True)
class AttributionVariance:
    """How little the attributions vary over columns, on the log scale.

    t = -log Var_j(a_j), the population variance over columns. Explanations of members tend to be flatter.
    Shokri et al., On the Privacy Risks of Model Explanations, AIES 2021;
    Huang et al., 2024.

    >>> from jali.explanation import Attribution
    >>> AttributionVariance()(Seen({"attribution": lambda: Attribution(np.array([[1.0, -1.0]]))})).round(4) + 0.0
    array([0.])
    """

    needs: ClassVar[frozenset[str]] = frozenset({"attribution"})

    def __call__(self, seen: Seen) -> Floats:
        """Negative log variance (n,)."""
        return np.asarray(-np.log(np.maximum(seen.attribution.value.var(axis=1), 1e-30)))
