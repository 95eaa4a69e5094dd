"""Combined attack on several signals, without shadow models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.attacks._conformal import split, surprise
from jali.attacks._correlation import correlation
from jali.core.errors import JaliError
from jali.core.values import Floats, Shadows, Target


@dataclass(frozen=True)
class QuantileJoint:
    """The test of `quantile` on all signals together, in the direction in which all of them grow.

    u = 1' (R + ridge I)^(-1/2) z, with z_s the standardised signals of `quantile` and R their correlation among people
    of the reference; score = -log p of u. Nothing is known about members without shadow models, so the whitened signals
    have equal weights: larger is more member-like. A sum of squares would also flag records with small signals.

    Bertran et al., Scalable Membership Inference Attacks via Quantile Regression, NeurIPS 2023; the combination is
    ours.

    >>> from jali.core.values import Records
    >>> order = np.linspace(0, 1, 101, endpoint=False)
    >>> people = Records(np.zeros((101, 1)), np.zeros(101), np.arange(101), order, np.arange(101) < 100)
    >>> signal = np.where(people.reference, np.arange(101) % 10, 99.0)
    >>> score = QuantileJoint().score(Target(np.stack([signal, signal]), np.ones((2, 101), bool), people), None)
    >>> np.exp(-score[-1]).round(6)
    np.float64(0.047619)
    """

    ridge: float = 0.05
    requires: ClassVar[frozenset[str]] = frozenset({"reference"})
    many: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.ridge < 0:
            raise JaliError(f"quantile_joint: ridge must not be below 0, not {self.ridge}.")

    def score(self, target: Target, shadows: Shadows) -> Floats:  # noqa: ARG002 (needs no shadows)
        """Negative log p-value (N,)."""
        known = split("quantile_joint", target)
        z = np.stack([known.standardised(value) for value in target.value])
        together = self._weights(z[:, known.parts[1]]) @ z
        return surprise(together, together[known.parts[2]])

    def _weights(self, z: Floats) -> Floats:
        """Weights (S,) of standardised signals (S, n): the sum of the whitened ones."""
        centred = z - z.mean(axis=1, keepdims=True)
        size, axes = np.linalg.eigh(correlation(centred[:, :, None]) + self.ridge * np.eye(len(z)))
        whiten = axes / np.sqrt(np.maximum(size, 1e-9)) @ axes.T
        return np.asarray(whiten.sum(axis=0))
