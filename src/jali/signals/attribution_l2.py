"""Length of the attribution vector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core import Floats, Seen


@dataclass(frozen=True)
class AttributionL2:
    """How short the explanation is, on the log scale.

    t = -log ||a||_2. Explanations of members tend to be flatter.
    Huang, Pawelczyk and Lakkaraju, Explaining the Model, Protecting Your Data, 2024.

    >>> from jali.explanation import Attribution
    >>> AttributionL2()(Seen({"attribution": lambda: Attribution(np.array([[1.0, -1.0]]))})).round(4) + 0.0
    array([-0.3466])
    """

    needs: ClassVar[frozenset[str]] = frozenset({"attribution"})

    def __call__(self, seen: Seen) -> Floats:
        """Negative log norm (n,)."""
        return np.asarray(-np.log(np.maximum(np.linalg.norm(seen.attribution.value, axis=1), 1e-30)))
