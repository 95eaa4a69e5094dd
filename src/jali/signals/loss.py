"""Minus the cross-entropy loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.softmax import log_sum_exp
from jali.core.values import Floats, Seen, Unit


@dataclass(frozen=True)
class Loss:
    """Log-probability of the true label, the negative cross-entropy.

    t = log p_y. Yeom et al., Privacy Risk in Machine Learning, CSF 2018.

    >>> Loss()(Seen({"y": lambda: np.array([0]), "logits": lambda: np.zeros((1, 2))})).round(4)
    array([-0.6931])
    """

    needs: ClassVar[frozenset[str]] = frozenset({"y", "logits"})
    unit: ClassVar[Unit] = Unit.LOG_PROBABILITY

    def __call__(self, seen: Seen) -> Floats:
        """Log-probability (n,)."""
        chosen = np.take_along_axis(seen.logits, seen.y[:, None], axis=1)[:, 0]
        return np.asarray(chosen - log_sum_exp(seen.logits))
