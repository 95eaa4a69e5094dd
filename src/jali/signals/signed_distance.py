"""Distance to the counterfactual, counted towards the true label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.values import Floats, Seen


@dataclass(frozen=True)
class SignedDistance:
    """Distance to the counterfactual if the record is classified correctly, minus the distance if not.

    t = c where the decision is the true label and -c where it is not, c = ||z' - z||_2 in encoded features. Training
    on a record moves its score towards its label, so membership increases the distance from the right class and
    decreases the distance from a wrong one; a plain distance takes the second for a sign of non-membership.

    The distance: Pawelczyk, Lakkaraju and Neel, AISTATS 2023; the sign is ours.

    >>> from jali.core.explanation import Counterfactual
    >>> counterfactuals = Counterfactual(np.array([[3.0, 4.0]]), np.array([True]))
    >>> makers = {"x": lambda: np.zeros((1, 2)), "y": lambda: np.array([1]), "decision": lambda: np.array([0])}
    >>> SignedDistance()(Seen(makers | {"counterfactual": lambda: counterfactuals, "encode": lambda: np.asarray}))
    array([-5.])
    """

    needs: ClassVar[frozenset[str]] = frozenset({"x", "y", "decision", "counterfactual", "encode"})

    def __call__(self, seen: Seen) -> Floats:
        """Signed distance (n,)."""
        move = seen.encode(seen.counterfactual.rows) - seen.encode(seen.x)
        return np.asarray(np.where(seen.decision == seen.y, 1.0, -1.0) * np.linalg.norm(move, axis=1))
