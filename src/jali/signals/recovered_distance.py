"""Distance to the boundary, from the direction of a recourse alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.values import Floats, Seen


@dataclass(frozen=True)
class RecoveredDistance:
    """Distance of a record to a linear model's boundary, computed from the direction of its recourse, not the length.

    t = log |u . z|, u = (z' - z) / ||z' - z||, in encoded features: a recourse along the weights of a linear model
    reveals their direction whatever noise its length has, and centred columns make the intercept small. It defeats
    mechanisms that add noise to the length only. It is weak on other models, so an audit uses it only when it is named.

    After Pawelczyk et al., AISTATS 2023 (distances); aimed at Huang et al., 2023 (noised lengths).

    >>> from jali.core.explanation import Counterfactual
    >>> counterfactuals = Counterfactual(np.array([[9.0, 4.0]]), np.array([True]))
    >>> same = lambda: np.asarray
    >>> seen = Seen({"x": lambda: np.array([[3.0, 4.0]]), "counterfactual": lambda: counterfactuals, "encode": same})
    >>> np.exp(RecoveredDistance()(seen)).round(6)
    array([3.])
    """

    needs: ClassVar[frozenset[str]] = frozenset({"x", "counterfactual", "encode"})
    usual: ClassVar[bool] = False

    def __call__(self, seen: Seen) -> Floats:
        """Log distance (n,)."""
        here = seen.encode(seen.x)
        move = seen.encode(seen.counterfactual.rows) - here
        along = np.abs((here * move).sum(axis=1)) / np.maximum(np.linalg.norm(move, axis=1), 1e-12)
        return np.asarray(np.log(np.maximum(along, 1e-12)))
