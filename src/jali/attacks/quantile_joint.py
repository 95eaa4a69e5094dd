"""Combined attack on several signals, without shadow models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.attacks._conformal import split, surprise
from jali.core.guesses import Shadows, Target
from jali.core.values import Floats


@dataclass(frozen=True)
class QuantileJoint:
    """The test of `quantile` on the sum of all standardised signals.

    u = sum_s z_s, with z_s the standardised signals of `quantile`; score = -log p of u. Without shadow models nothing
    is known about members but that larger is more member-like, so the signals have equal weights, and one that says
    nothing weakens the others. Whitened signals were weaker (docs/decisions.md); a sum of squares would also flag
    records with small signals.

    Bertran et al., Scalable Membership Inference Attacks via Quantile Regression, NeurIPS 2023; the combination is
    ours.

    >>> from jali.core.guesses import Records
    >>> order = np.linspace(0, 1, 101, endpoint=False)
    >>> people = Records(np.zeros((101, 1)), np.zeros(101), np.arange(101), order, np.arange(101) < 100)
    >>> signal = np.where(people.reference, np.arange(101) % 10, 99.0)
    >>> score = QuantileJoint().score(Target(np.stack([signal, signal]), np.ones((2, 101), bool), people), None)
    >>> np.exp(-score[-1]).round(6)
    np.float64(0.047619)
    """

    requires: ClassVar[frozenset[str]] = frozenset({"reference"})
    many: ClassVar[bool] = True

    def score(self, target: Target, shadows: Shadows) -> Floats:  # noqa: ARG002 (needs no shadows)
        """Negative log p-value (N,)."""
        known = split("quantile_joint", target)
        together = np.sum([known.standardised(value) for value in target.value], axis=0)
        return surprise(together, together[known.parts[2]])
