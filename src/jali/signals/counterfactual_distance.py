"""Distance to the counterfactual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Floats, Seen, Unit


@dataclass(frozen=True)
class CounterfactualDistance:
    """How far a record has to move to change its outcome, on the log scale.

    t = log ||z' - z||_p in encoded features (p = `norm`, 1 or 2), z' the encoded counterfactual: training on a record
    tends to push the boundary away from it. Pawelczyk et al., On the Privacy Risks of Algorithmic Recourse, 2023.

    >>> from jali.core.explanation import Counterfactual
    >>> counterfactuals = Counterfactual(np.array([[3.0, 4.0]]), np.array([True]))
    >>> same = lambda: np.asarray
    >>> seen = Seen({"x": lambda: np.zeros((1, 2)), "counterfactual": lambda: counterfactuals, "encode": same})
    >>> np.exp(CounterfactualDistance()(seen)).round(6)
    array([5.])
    """

    norm: int = 2
    needs: ClassVar[frozenset[str]] = frozenset({"x", "counterfactual", "encode"})
    unit: ClassVar[Unit] = Unit.LOG

    def __post_init__(self) -> None:
        if self.norm not in (1, 2):
            raise JaliError(f"counterfactual_distance: norm must be 1 or 2, not {self.norm}.")

    def __call__(self, seen: Seen) -> Floats:
        """Log distance (n,)."""
        move = seen.encode(seen.counterfactual.rows) - seen.encode(seen.x)
        return np.asarray(np.log(np.maximum(np.linalg.norm(move, ord=self.norm, axis=1), 1e-12)))
