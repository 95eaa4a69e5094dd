"""Models with a known bound on how far one replaced training record can move their scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.core.errors import JaliError
from jali.core.protocols import Model, model_name
from jali.core.values import Floats
from jali.defend._dp.scaling import Frame
from jali.models.fitted.linear import LinearEnsemble, LinearModel


@dataclass(frozen=True, eq=False)
class Stability:
    """Bounds for the exact minimiser of C sum_i loss_i(w) + ||w||^2 / 2 over rows of a frame, which have length <= R.

    The objective is 1-strongly convex, and the gradient of C loss_i is at most C R long. Replacing one record therefore
    moves w by at most 2 C R, and adding or removing one by at most C R. Bounds for scores and probabilities follow.
    """

    frame: Frame
    C: float

    @property
    def weights(self) -> float:
        """How far replacing one record can move the weights: 2 C R."""
        return 2 * self.C * self.frame.radius

    def score(self, X: Floats) -> Floats:
        """How far replacing one record can move the scores (n,) of raw rows: 2 C R ||x||, x a row of the frame."""
        return np.asarray(self.weights * np.linalg.norm(self.frame.rows(X), axis=1))

    def probability(self, X: Floats) -> Floats:
        """The same for probabilities, whose slope is at most 1/4: C R ||x|| / 2, at most C R^2 / 2 if ||x|| <= R."""
        return np.minimum(1.0, self.score(X) / 4)


@dataclass(frozen=True, eq=False)
class StableModel(LinearModel):
    """A linear model with a known stability bound."""

    stability: Stability


@dataclass(frozen=True, eq=False)
class StableEnsemble:
    """M linear models with a known stability bound; kept in memory only, because stored weights do not include it."""

    linear: LinearEnsemble
    stability: Stability

    def __len__(self) -> int:
        return len(self.linear)

    def __getitem__(self, column: int) -> StableModel:
        one = self.linear[column]
        return StableModel(one.encoding, one.coef, one.intercept, self.stability)

    def logits(self, X: Floats) -> Floats:
        """Class scores (n, M, 2) of raw rows (n, D)."""
        return self.linear.logits(X)


def stable(name: str, model: Model) -> StableModel:
    """The model, if it has a stability bound; any other model is refused."""
    if isinstance(model, StableModel):
        return model
    raise JaliError(
        f"{name} needs a model with a known bound on how far one training record can move its scores (the exact "
        "optimum of a fit with all weights penalised and rows of bounded length), and "
        f"{model_name(model)} has none: train it with clipped_logistic."
    )
