"""Share of the largest attribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jali.core.values import Floats, Seen
from jali.signals._norms import shares, smallness


@dataclass(frozen=True)
class AttributionTop1:
    """How small a part of the explanation its largest attribution is, on the log scale.

    t = -log max_j |a_j| / ||a||_1. Explanations of members tend to be flatter; unlike a norm, this share does
    not change when explanations are scaled.
    Shokri, Strobel and Zick, On the Privacy Risks of Model Explanations, AIES 2021 (flatness); the signal is ours.

    >>> import numpy as np
    >>> from jali.core.explanation import Attribution
    >>> AttributionTop1()(Seen({"attribution": lambda: Attribution(np.array([[1.0, -3.0]]))})).round(4)  # -log 3/4
    array([0.2877])
    """

    needs: ClassVar[frozenset[str]] = frozenset({"attribution"})
    usual: ClassVar[bool] = False

    def __call__(self, seen: Seen) -> Floats:
        """Negative log share (n,)."""
        return smallness(shares(seen.attribution.value).max(axis=1), "log")
