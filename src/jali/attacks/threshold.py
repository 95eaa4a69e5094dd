"""One threshold for all records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.guesses import Shadows, Target
from jali.core.values import Bools, Floats


@dataclass(frozen=True)
class Threshold:
    """The signal itself is the score: what an adversary without shadow models can do.

    score = t. Yeom et al., Privacy Risk in Machine Learning, CSF 2018 (loss); Shokri et al., On the Privacy Risks of
    Model Explanations, AIES 2021 (attributions); Pawelczyk et al., AISTATS 2023 (counterfactual distance).

    >>> Threshold().score(Target(np.array([[0.2, 0.7]]), np.ones((1, 2), bool)), None)
    array([0.2, 0.7])
    """

    requires: ClassVar[frozenset[str]] = frozenset()
    many: ClassVar[bool] = False

    def score(self, target: Target, shadows: Shadows) -> Floats:  # noqa: ARG002 (needs no shadows)
        """The signal (N,)."""
        return np.asarray(target.value[0])

    def scores(self, value: Floats, shadows: Shadows, sets: Bools) -> Floats:  # noqa: ARG002
        """The signal (T, N) of several targets."""
        return np.asarray(value[0])
