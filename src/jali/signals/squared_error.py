"""Minus the logarithm of the squared error of a regression model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.values import Floats, Seen, Unit

SMALLEST = 1e-12  # of a squared error, in units of the outcome's variance: below, it is rounding


@dataclass(frozen=True)
class SquaredError:
    """How close a regression model comes to the true value, on the log scale.

    t = -log (f - y)^2, both in units of the outcome's spread; f is the score of the upper side of the threshold minus
    that of the lower one. Audits of classifiers do not compute it.
    Yeom et al., Privacy Risk in Machine Learning, CSF 2018, whose regression attack has the squared loss.

    >>> seen = Seen({"outcome": lambda: np.array([1.0]), "logits": lambda: np.array([[-0.25, 0.25]])})
    >>> np.exp(-SquaredError()(seen)).round(6)
    array([0.25])
    """

    needs: ClassVar[frozenset[str]] = frozenset({"outcome", "logits"})
    unit: ClassVar[Unit] = Unit.MINUS_LOG

    def __call__(self, seen: Seen) -> Floats:
        """Minus the log of the squared error (n,)."""
        error = seen.logits[:, 1] - seen.logits[:, 0] - seen.outcome
        return np.asarray(-np.log(np.maximum(error**2, SMALLEST)))
