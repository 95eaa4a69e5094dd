"""Entropy of the predicted distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.softmax import log_sum_exp
from jali.core.values import Floats, Seen, Unit


@dataclass(frozen=True)
class Entropy:
    """Certainty of the prediction, without the true label, on the log scale.

    t = -log H(p), H(p) = -sum_c p_c log p_c. Shokri et al., Membership Inference Attacks, S&P 2017;
    Salem et al., ML-Leaks, NDSS 2019.

    >>> Entropy()(Seen({"logits": lambda: np.zeros((1, 2))})).round(4)  # -log(log 2)
    array([0.3665])
    """

    needs: ClassVar[frozenset[str]] = frozenset({"logits"})
    unit: ClassVar[Unit] = Unit.MINUS_LOG

    def __call__(self, seen: Seen) -> Floats:
        """Negative log entropy (n,)."""
        logp = seen.logits - log_sum_exp(seen.logits)[:, None]
        return np.asarray(-np.log(np.maximum(-(np.exp(logp) * logp).sum(axis=1), 1e-30)))
