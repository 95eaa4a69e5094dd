"""Linear models of the encoded features: logits = Z @ coef + intercept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jali.core.encoding import Encoding
from jali.core.values import Floats, Ints, frozen

UNSEEN = float(np.log(1e-12))  # logit of a class without training rows, relative to the lowest other logit


@dataclass(frozen=True)
class LinearModel:
    """One linear classifier: coef (P, C), intercept (C,).

    >>> from jali.core.values import Column, Schema
    >>> encoding = Encoding(Schema((Column("age", centre=40, spread=10),)))
    >>> LinearModel(encoding, np.array([[0.0, 2.0]]), np.zeros(2)).logits(np.array([[50.0]]))
    array([[0., 2.]])
    """

    encoding: Encoding
    coef: Floats
    intercept: Floats

    def __post_init__(self) -> None:
        coef = frozen(self.coef, np.float64, (len(self.encoding.source), None), "coef")
        object.__setattr__(self, "coef", coef)
        object.__setattr__(self, "intercept", frozen(self.intercept, np.float64, (coef.shape[1],), "intercept"))

    def logits(self, X: Floats) -> Floats:
        """Class scores (n, C) of raw rows (n, D)."""
        return self.encoding.encode(X) @ self.coef + self.intercept

    def gradient(self, Z: Floats, of: Ints) -> Floats:
        """Gradient (n, P) of the logit of class of (n,); the same at every encoded row Z (n, P)."""
        return self.coef.T[np.broadcast_to(of, len(Z))]

    def margin(self, Z: Floats, of: Ints) -> tuple[Floats, Floats]:
        """Logit of class of (n,) minus the best other one, (n,), and its gradient (n, P) at encoded rows Z (n, P)."""
        value, rival = lead(Z @ self.coef + self.intercept, of)
        return value, self.coef.T[of] - self.coef.T[rival]


@dataclass(frozen=True)
class LinearEnsemble:
    """M linear classifiers: coef (M, P, C), intercept (M, C)."""

    encoding: Encoding
    coef: Floats
    intercept: Floats

    def __post_init__(self) -> None:
        coef = frozen(self.coef, np.float64, (None, len(self.encoding.source), None), "coef")
        object.__setattr__(self, "coef", coef)
        shape = (coef.shape[0], coef.shape[2])
        object.__setattr__(self, "intercept", frozen(self.intercept, np.float64, shape, "intercept"))

    def __len__(self) -> int:
        return len(self.coef)

    def __getitem__(self, column: int) -> LinearModel:
        return LinearModel(self.encoding, self.coef[column], self.intercept[column])

    def logits(self, X: Floats) -> Floats:
        """Class scores (n, M, C) of raw rows (n, D); one product per model, so its bits do not depend on others."""
        Z = self.encoding.encode(X)
        return np.stack([Z @ coef + b for coef, b in zip(self.coef, self.intercept, strict=True)], axis=1)

    def arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """Everything `restore` needs; the first axis is the model."""
        return {"coef": self.coef, "intercept": self.intercept}


def joined(models: list[LinearModel]) -> LinearEnsemble:
    """Linear models with the same encoding as one ensemble."""
    coef = np.stack([m.coef for m in models])
    return LinearEnsemble(models[0].encoding, coef, np.stack([m.intercept for m in models]))


def lead(scores: Floats, of: Ints) -> tuple[Floats, Ints]:
    """The score of class of (n,) minus the best other score in scores (n, C), and the class of that other score.

    >>> lead(np.array([[3.0, 1.0, 2.0], [0.0, 4.0, 1.0]]), np.array([0, 2]))
    (array([ 1., -3.]), array([2, 1]))
    """
    at = np.arange(len(scores))
    others = scores.copy()
    others[at, of] = -np.inf
    rival = others.argmax(axis=1)
    return scores[at, of] - scores[at, rival], rival
