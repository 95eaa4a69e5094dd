"""Whether the decision is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.values import Floats, Seen, Unit


@dataclass(frozen=True)
class Correctness:
    """Whether the decision equals the true label, 1 or 0: all that the decision alone reveals.

    t = 1[decision = y]. Yeom et al., Privacy Risk in Machine Learning, CSF 2018 (the gap attack).

    >>> Correctness()(Seen({"y": lambda: np.array([0, 1]), "decision": lambda: np.array([0, 0])}))
    array([1., 0.])
    """

    needs: ClassVar[frozenset[str]] = frozenset({"y", "decision"})
    unit: ClassVar[Unit] = Unit.YES_NO

    def __call__(self, seen: Seen) -> Floats:
        """Zero or one (n,)."""
        return np.asarray(seen.decision == seen.y, dtype=np.float64)
