"""How unusual a signal is for somebody who was not trained on, without shadow models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jali.attacks._conformal import split, surprise
from jali.core.guesses import Shadows, Target
from jali.core.values import Floats


@dataclass(frozen=True)
class Quantile:
    """Conformal test against people who are known not to be in the training set; no model is trained.

    z = (t - mean(x, y)) / spread(x, y), t as normal scores, mean and spread by boosted trees on encoded features and
    label, each learnt on people of its own; score = -log p, p = (1 + #{z_b >= z}) / (m + 1) over m further people b,
    and z decides between equal p. So at most a share alpha of the non-members has p <= alpha, whatever the trees
    learnt. Nobody whom the trees read is scored: fitting to the non-members that are scored shows a leak of 2 to 3 %
    at an FPR of 1 % where there is none.

    Bertran, Tang, Roth, Kearns, Morgenstern and Wu, Scalable Membership Inference Attacks via Quantile Regression,
    NeurIPS 2023, in the Gaussian form of their code for tables; the conformal step: Vovk et al. (2005).

    >>> import numpy as np
    >>> from jali.core.guesses import Records
    >>> order = np.linspace(0, 1, 101, endpoint=False)
    >>> people = Records(np.zeros((101, 1)), np.zeros(101), np.arange(101), order, np.arange(101) < 100)
    >>> signal = np.where(people.reference, np.arange(101) % 10, 99.0)
    >>> score = Quantile().score(Target(signal[None], np.ones((1, 101), bool), people), None)
    >>> np.exp(-score[-1]).round(6)  # larger than all 20 people of the calibration: 1 / 21
    np.float64(0.047619)
    """

    requires: ClassVar[frozenset[str]] = frozenset({"reference"})
    many: ClassVar[bool] = False

    def score(self, target: Target, shadows: Shadows) -> Floats:  # noqa: ARG002 (needs no shadows)
        """Negative log p-value (N,)."""
        known = split("quantile", target)
        z = known.standardised(target.value[0])
        return surprise(z, z[known.parts[2]])
