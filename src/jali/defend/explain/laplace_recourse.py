"""Laplace Recourse as published; its privacy claim is false."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Gives, Wants
from jali.core.guarantee import Guarantee
from jali.core.protocols import Linear, Model
from jali.core.values import Dataset, Floats, Rng, Schema
from jali.defend._dp.checks import EXACT_NOISE, ROW, positive
from jali.defend._dp.noise import noised
from jali.defend._dp.recourse import moved, recourse_requests
from jali.defend._dp.sigmoid import sigmoid
from jali.explain.native.capability import linear
from jali.models.logistic import Logistic
from jali.privacy.mechanisms import mark, released
from jali.privacy.snapped_noise import Grid

LIMIT = 1 - 1e-9  # scores above this share of the largest possible score count as clamped
REFUTED = (
    "The noise makes one score epsilon-private, and the score is not what is released: the answer is a multiple of the "
    "model's own weights, which nothing protects. One answer shows their direction exactly and, with probability at "
    "least e^(-epsilon / 2), their length, so no epsilon bounds what it tells about a training record. Treat it as an "
    "unprotected release of the model, and use recourse from private weights, along a public direction or above a "
    "noisy threshold instead."
)


@dataclass(frozen=True)
class LaplaceRecourse:
    """Recourse of a linear model from a noised probability, as published: for comparison, not for protection.

    p' = clip(p + Laplace(1 / epsilon), clamp, 1 - clamp) with p the probability of the desired class, f' = logit p'.
    The record moves in encoded features by -f' w / ||w||^2 (`squared`), which ends on the decision boundary if there is
    no noise, or by -f' w / ||w|| (`printed`), as printed in the paper. w: the weights on mutable numbers. The row shown
    is made legal: inside bounds, whole numbers whole.

    Every answer is released, valid or not. With `squared` an answer is valid if the noise is negative, which is half of
    the time at every epsilon unless p' is clamped. Answers are not filtered, because a filter would use the model
    again.

    Huang et al., Accurate, Explainable, and Private Models, 2023.

    >>> from jali.core.values import Column
    >>> from jali.models.fitted.linear import LinearModel
    >>> schema = Schema((Column("a"), Column("b")), favourable=1)
    >>> model = LinearModel(Encoding(schema), np.array([[0.0, 3.0], [0.0, 4.0]]), np.array([0.0, -2.5]))
    >>> faint = LaplaceRecourse(epsilon=1e9)
    >>> rng = np.random.default_rng(0)
    >>> ready = faint.prepare(model, schema, None, rng)
    >>> ready.explain(np.zeros((1, 2)), rng).rows.round(3)
    array([[0.3, 0.4]])
    >>> print(faint.guarantee().covers)
    ('one noised score',)
    """

    epsilon: float
    normaliser: Literal["squared", "printed"] = "squared"
    clamp: float = 1e-5
    gives: ClassVar[Gives] = "counterfactual"
    reads_training_data: ClassVar[bool] = False
    wants: ClassVar[Wants] = "linear"
    checked: ClassVar[bool] = False

    def __post_init__(self) -> None:
        positive("laplace_recourse", "epsilon", self.epsilon)
        if not 0 < self.clamp < 0.5:
            raise JaliError(f"laplace_recourse: clamp must lie between 0 and 1/2, not {self.clamp}.")

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> _Prepared:  # noqa: ARG002
        """Read the model's weights; noise is drawn with each answer."""
        return _Prepared(self, model, linear("laplace_recourse", model, schema), Encoding(schema))

    def noised(self, score: Floats, X: Floats, rng: Rng) -> Floats:
        """The noised scores f' (n,) from scores f (n,) of records X (n, D); the noise covers nothing else."""
        p = noised(X, sigmoid(score)[:, None], Grid(np.ones((len(X), 1)), self.epsilon), rng)[:, 0]
        p = np.clip(p, self.clamp, 1 - self.clamp)
        return np.asarray(np.log(p) - np.log1p(-p))

    def deployed(self) -> Logistic:
        """A trainer of models that this part can explain."""
        return Logistic()

    @classmethod
    def example(cls, epsilon: float) -> LaplaceRecourse:
        """A part with this epsilon, for tests of the guarantee."""
        return cls(epsilon)

    def guarantee(self, schema: Schema | None = None) -> Guarantee:  # noqa: ARG002
        """The guarantee for one noised score, and why recourse computed from the score is not private."""
        assumes = (
            "one score of one record that was chosen without the training rows; k scores cost k epsilon",
            "who needs recourse is decided by the model without noise, and is not covered",
            ROW,
            EXACT_NOISE,
        )
        return Guarantee(
            "Laplace noise on the probability",
            self.epsilon,
            "replace-one",
            ("one noised score",),
            per="release",
            noise="laplace",
            assumes=assumes,
            refuted=REFUTED,
        )


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The explainer for one model."""

    part: LaplaceRecourse
    model: Model
    known: Linear
    encoding: Encoding

    def explain(self, X: Floats, rng: Rng) -> Counterfactual:
        """The rows (n, D) that the noised scores lead to, for every record that needs recourse."""
        part = self.part
        coef = self.known.coef
        requests = recourse_requests("laplace_recourse", self.model, X, self.encoding.schema)
        weight = np.outer(requests.sign, mark("weights", coef[:, 1] - coef[:, 0]) * self.encoding.movable())
        square = (weight * weight).sum(axis=1)
        length = square if part.normaliser == "squared" else np.sqrt(square)
        score = released("noised score", lambda: part.noised(requests.score, X, rng), scale=1 / part.epsilon)
        pace = np.divide(-score, length, out=np.zeros_like(length), where=length > 0)
        found = requests.needed & (length > 0)
        rows = moved(X, weight * pace[:, None], self.encoding)
        clamped = np.abs(score) >= LIMIT * np.log((1 - part.clamp) / part.clamp)
        return Counterfactual(np.where(found[:, None], rows, X), found, clamped=clamped)
