"""Sum of absolute attributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core import Floats, Seen


@dataclass(frozen=True)
class AttributionL1:
    """How little the explanation says in total, on the log scale.

    t = -log ||a||_1. Explanations of members tend to be flatter.
    Huang, Pawelczyk and Lakkaraju, Explaining the Model, Protecting Your Data, 2024.

    >>> from jali.explanation import Attribution
    >>> AttributionL1()(Seen({"attribution": lambda: Attribution(np.array([[1.0, -1.0]]))})).round(4) + 0.0
    array([-0.6931])
    """

    needs: ClassVar[frozenset[str]] = frozenset({"attribution"})

    def __call__(self, seen: Seen) -> Floats:
        """Negative log norm (n,)."""
        return np.asarray(-np.log(np.maximum(np.abs(seen.attribution.value).sum(axis=1), 1e-30)))
