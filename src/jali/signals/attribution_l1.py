"""Sum of absolute attributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from jali.core.values import Floats, Seen, Unit
from jali.signals._norms import smallness, unit_of


@dataclass(frozen=True)
class AttributionL1:
    """Negative l1 norm of the attributions, on the log scale or as it is.

    t = -log ||a||_1, or -||a||_1. Explanations of members tend to be flatter.
    Huang, Pawelczyk and Lakkaraju, Explaining the Model, Protecting Your Data, 2024.

    >>> from jali.core.explanation import Attribution
    >>> seen = Seen({"attribution": lambda: Attribution(np.array([[1.0, -1.0]]))})
    >>> AttributionL1()(seen).round(4) + 0.0, AttributionL1(scale="raw")(seen)
    (array([-0.6931]), array([-2.]))
    """

    scale: Literal["log", "raw"] = "log"
    needs: ClassVar[frozenset[str]] = frozenset({"attribution"})

    @property
    def unit(self) -> Unit:
        """The scale of the signal."""
        return unit_of(self.scale)

    def __call__(self, seen: Seen) -> Floats:
        """Negative (log) norm (n,)."""
        return smallness(np.abs(seen.attribution.value).sum(axis=1), self.scale)
