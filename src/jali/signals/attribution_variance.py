"""Variance of the attributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from jali.core.values import Floats, Seen, Unit
from jali.signals._norms import smallness, unit_of


@dataclass(frozen=True)
class AttributionVariance:
    """How little the attributions vary over columns, on the log scale or as they are.

    t = -log Var_j(a_j), or -Var_j(a_j), the population variance over all columns. Explanations of members tend to be
    flatter. Where attributions are 0 on average, it is ||a||_2^2 / P: on the log scale the same attack as the length.
    Shokri, Strobel and Zick, On the Privacy Risks of Model Explanations, AIES 2021; Huang et al., 2024.

    >>> import numpy as np
    >>> from jali.core.explanation import Attribution
    >>> seen = Seen({"attribution": lambda: Attribution(np.array([[1.0, -1.0]]))})
    >>> AttributionVariance()(seen).round(4) + 0.0, AttributionVariance(scale="raw")(seen)
    (array([0.]), array([-1.]))
    """

    scale: Literal["log", "raw"] = "log"
    needs: ClassVar[frozenset[str]] = frozenset({"attribution"})

    @property
    def unit(self) -> Unit:
        """The scale of the signal."""
        return unit_of(self.scale)

    def __call__(self, seen: Seen) -> Floats:
        """Negative (log) variance (n,)."""
        return smallness(seen.attribution.value.var(axis=1), self.scale)
