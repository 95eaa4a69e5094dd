"""Recourse along a public direction, of a length computed from a noised score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from jali.core.encoding import Encoding
from jali.core.explanation import Counterfactual, Gives, Wants
from jali.core.guarantee import Guarantee, announce
from jali.core.protocols import Model, Source
from jali.core.values import Dataset, Floats, Rng, Schema
from jali.defend._dp.checks import chance, positive
from jali.defend._dp.noise import noised, shift
from jali.defend._dp.public import DEPLOYED, direction, example, per_answer
from jali.defend._dp.recourse import Requests, inside, moved, recourse_requests, two_classes
from jali.defend._dp.sigmoid import sigmoid
from jali.defend._dp.stability import StableModel, stable
from jali.defend.models.clipped_logistic import ClippedLogistic
from jali.privacy.mechanisms import released
from jali.privacy.snapped_noise import Grid

CLAMP = 1e-5


@dataclass(frozen=True)
class PublicDirection:
    """Recourse along a direction from public data, of a length that is epsilon-private per answer.

    A step t along the unit vector v (in encoded features) reaches the decision boundary where f(x) + t g = 0. An answer
    depends on the model through two numbers: the score f of the desired class, and its slope g along v. Each gets
    Laplace noise for half of epsilon. Replacing one training record of a stable model (`clipped_logistic`, R = the
    longest row) moves f by at most 2 C R ||x||, the probability by C R ||x|| / 2 <= C R^2 / 2, and g by 2 C R ||v||.
    Both noised numbers are lowered by (2 sensitivity / epsilon) ln(1 / beta), so that each is too high in a share beta
    / 2 of answers only, and the answer t = -f / g is valid with probability 1 - `beta` or more. There is no answer if
    the lowered slope is not positive, if the lowered score is positive, or if a bound stops the step. This validity
    does not allow for the rounding of whole numbers.

    `noised`: whether noise is added to the score, or to the probability, which is then clamped to [1e-5, 1 - 1e-5]. The
    logit is at least four times as steep as the score's bound assumes, so noise on the score has the smaller error, at
    every record and draw, as long as C R ||x|| <= 2.

    After the stability bounds of Chaudhuri, Monteleoni and Sarwate, 2011; in place of Huang et al., 2023.

    >>> from jali.data.linear_gaussian import LinearGaussian
    >>> from jali.defend.models.clipped_logistic import ClippedLogistic
    >>> data = LinearGaussian(n=2000, d=10, scale="population").load()
    >>> model = ClippedLogistic(bound=1.0, C=0.02).fit(data, np.ones((2000, 1), bool), [np.random.default_rng(0)])[0]
    >>> part = PublicDirection(epsilon=1.0, public=LinearGaussian(n=2000, d=10, seed=9))
    >>> rng = np.random.default_rng(0)
    >>> out = part.prepare(model, data.schema, None, rng).explain(data.X[:100], rng)
    >>> before, after = (model.logits(rows).argmax(axis=1) for rows in (data.X[:100], out.rows))
    >>> bool(out.found.mean() > 0.5), bool((before != after)[out.found].mean() > 0.95)
    (True, True)
    """

    epsilon: float
    public: Source
    beta: float = 0.05
    noised: Literal["score", "probability"] = "score"
    gives: ClassVar[Gives] = "counterfactual"
    reads_training_data: ClassVar[bool] = False
    wants: ClassVar[Wants] = "linear"
    checked: ClassVar[bool] = False

    def __post_init__(self) -> None:
        positive("public_direction", "epsilon", self.epsilon)
        chance("public_direction", self.beta, 0.5)

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> _Prepared:  # noqa: ARG002
        """Learn the direction from public data alone; noise is drawn with each answer."""
        announce("public_direction", self.guarantee(), schema)
        known = stable("public_direction", model)
        two_classes("public_direction", schema)
        return _Prepared(self, known, Encoding(schema), direction("public_direction", self.public, schema))

    def lowered(self, model: StableModel, X: Floats, requests: Requests, way: Floats, rng: Rng) -> Floats:
        """Score and slope (2, n) along way (n, P), noised and lowered; answers depend on nothing else of the model."""
        slope = (way @ (model.coef[:, 1] - model.coef[:, 0])) * requests.sign
        steep = model.stability.weights * np.linalg.norm(way * model.stability.frame.scale, axis=1)
        on_score = self.noised == "score"
        level = requests.score if on_score else sigmoid(requests.score)
        reach = model.stability.score(X) if on_score else model.stability.probability(X)
        sensitivity = np.stack([reach, steep], axis=1)
        made = noised(X, np.stack([level, slope], axis=1), Grid(sensitivity, self.epsilon / 2), rng)
        first, second = (made - 2 / self.epsilon * shift(self.beta / 2) * sensitivity).T
        if on_score:
            return np.stack([first, second])
        p = np.clip(first, CLAMP, 1 - CLAMP)
        return np.stack([np.log(p) - np.log1p(-p), second])

    def deployed(self) -> ClippedLogistic:
        """A trainer of models that this part can explain."""
        return DEPLOYED

    @classmethod
    def example(cls, epsilon: float, columns: int = 20) -> PublicDirection:
        """A part with this epsilon, for tests of the guarantee on standardised columns."""
        return cls(epsilon, example(columns))

    def for_columns(self, columns: int) -> PublicDirection:
        """The same part with public data of this many standardised columns, for tests of the guarantee."""
        return replace(self, public=example(columns))

    def guarantee(self, schema: Schema | None = None) -> Guarantee:
        """Epsilon per answer, for the explanations alone; void if the schema's constants come from the rows."""
        return per_answer("Laplace noise on score and slope along a public direction", self.epsilon).on(schema)


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The explainer for one model, and the unit vector (P,) along which it moves records."""

    part: PublicDirection
    model: StableModel
    encoding: Encoding
    direction: Floats

    def explain(self, X: Floats, rng: Rng) -> Counterfactual:
        """Rows (n, D) along the direction, at the distance that the noised score and slope give."""
        requests = recourse_requests("public_direction", self.model, X, self.encoding.schema)
        way = np.outer(requests.sign, self.direction)
        lowered = released("noised score and slope", lambda: self.part.lowered(self.model, X, requests, way, rng))
        score, slope = lowered
        go = (score < 0) & (slope > 0)
        move = way * np.divide(-score, slope, out=np.zeros_like(score), where=go)[:, None]
        found = requests.needed & go & inside(X, move, self.encoding)
        return Counterfactual(np.where(found[:, None], moved(X, move, self.encoding), X), found)
