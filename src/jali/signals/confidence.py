"""Logit-scaled confidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.softmax import log_sum_exp
from jali.core.values import Floats, Seen, Unit


@dataclass(frozen=True)
class Confidence:
    """Log-odds of the true label, which is close to normal over shadow models.

    t = log[p_y / (1 - p_y)] = logit_y - logsumexp of the other logits. Carlini et al., S&P 2022.

    >>> Confidence()(Seen({"y": lambda: np.array([1]), "logits": lambda: np.array([[0.0, 2.0]])}))
    array([2.])
    """

    needs: ClassVar[frozenset[str]] = frozenset({"y", "logits"})
    unit: ClassVar[Unit] = Unit.LOG_ODDS

    def __call__(self, seen: Seen) -> Floats:
        """Log-odds (n,)."""
        rows = np.arange(len(seen.y))
        others = seen.logits.copy()
        others[rows, seen.y] = -np.inf
        return np.asarray(seen.logits[rows, seen.y] - log_sum_exp(others))
