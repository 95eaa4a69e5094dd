"""Range of the attributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.values import Floats, Seen


@dataclass(frozen=True)
class AttributionRange:
    """How close together the attributions of a record lie, on the log scale.

    t = -log (max_j a_j - min_j a_j). Explanations of members tend to be flatter: Shokri, Strobel and Zick (2021).

    >>> from jali.core.explanation import Attribution
    >>> AttributionRange()(Seen({"attribution": lambda: Attribution(np.array([[1.0, -2.0]]))})).round(4)
    array([-1.0986])
    """

    needs: ClassVar[frozenset[str]] = frozenset({"attribution"})
    usual: ClassVar[bool] = False

    def __call__(self, seen: Seen) -> Floats:
        """Negative log range (n,)."""
        return np.asarray(-np.log(np.maximum(np.ptp(seen.attribution.value, axis=1), 1e-30)))
