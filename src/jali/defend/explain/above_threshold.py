"""Recourse to the first of a few steps along a public direction that passes a noisy threshold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Gives, Wants
from jali.core.guarantee import Guarantee, announce
from jali.core.protocols import Model, Source
from jali.core.values import Bools, Dataset, Floats, Rng, Schema
from jali.defend._dp.checks import positive
from jali.defend._dp.noise import laplace
from jali.defend._dp.public import DEPLOYED, direction, example, per_answer
from jali.defend._dp.recourse import Requests, moved, recourse_requests, two_classes
from jali.defend._dp.sigmoid import sigmoid
from jali.defend._dp.stability import StableModel, stable
from jali.defend.models.clipped_logistic import ClippedLogistic
from jali.privacy.mechanisms import released
from jali.privacy.snapped_noise import Grid


@dataclass(frozen=True)
class AboveThreshold:
    """The first of `steps` rows along a public direction whose noised probability passes a noised threshold.

    Rows i = 1 .. k lie at t_i = i reach / k along the unit vector v from public data (in encoded features) and are
    legal: inside bounds, whole numbers whole. The test  p(x_i) + Laplace(4 D / epsilon) >= 1/2 + margin + Laplace(2 D /
    epsilon),  with one draw of the last noise for all rows, is made in this order. The first row that passes is
    released, or the fact that none does. D is the sensitivity: the most by which one replaced training record can
    change the probability of any of these rows, C R ||x|| / 2 for the longest of them (`clipped_logistic`). Each
    explanation costs epsilon, however many steps it has (sparse vector technique). With probability 1 - b all noise
    together stays below 8 D (ln k + ln(2 / b)) / epsilon, so that a margin of that size makes answers valid. The method
    is useful where D is far below 1/10.

    Dwork and Roth, 2014, algorithm 1; in place of Huang et al., 2023.

    >>> from jali.data.linear_gaussian import LinearGaussian
    >>> from jali.defend.models.clipped_logistic import ClippedLogistic
    >>> data = LinearGaussian(n=2000, d=10, scale="population").load()
    >>> model = ClippedLogistic(bound=1.0, C=0.02).fit(data, np.ones((2000, 1), bool), [np.random.default_rng(0)])[0]
    >>> part = AboveThreshold(epsilon=1.0, public=LinearGaussian(n=2000, d=10, seed=9), reach=6.0)
    >>> rng = np.random.default_rng(0)
    >>> out = part.prepare(model, data.schema, None, rng).explain(data.X[:100], rng)
    >>> bool(out.found.mean() > 0.8), part.guarantee().per
    (True, 'release')
    """

    epsilon: float
    public: Source
    steps: int = 20
    reach: float = 3.0
    margin: float = 0.0
    gives: ClassVar[Gives] = "counterfactual"
    reads_training_data: ClassVar[bool] = False
    wants: ClassVar[Wants] = "linear"
    checked: ClassVar[bool] = False

    def __post_init__(self) -> None:
        positive("above_threshold", "epsilon", self.epsilon)
        positive("above_threshold", "reach", self.reach)
        if self.steps < 1 or not -0.5 < self.margin < 0.5:
            raise JaliError(
                "above_threshold: steps must be at least 1 and margin between -1/2 and 1/2, not "
                f"{self.steps} and {self.margin}."
            )

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> _Prepared:  # noqa: ARG002
        """Learn the direction from public data alone; noise is drawn with each answer."""
        announce("above_threshold", self.guarantee(), schema)
        known = stable("above_threshold", model)
        two_classes("above_threshold", schema)
        return _Prepared(self, known, Encoding(schema), direction("above_threshold", self.public, schema))

    def first(self, model: StableModel, X: Floats, requests: Requests, way: Floats, rng: Rng) -> Floats:
        """The number of the first step (n,) along way (n, P) that passes, or 0 for none.

        Answers depend on the model through this number only.
        """
        p = np.empty((self.steps, len(X)))
        change = np.zeros(len(X))
        for i in range(self.steps):
            rows = moved(X, way * ((i + 1) * self.reach / self.steps), model.encoding)
            p[i] = sigmoid(requests.sign * (model.logits(rows) @ [-1.0, 1.0]))
            change = np.maximum(change, model.stability.probability(rows))
        grid = Grid(change, self.epsilon)
        scales = np.stack([grid.scale(2.0), *[grid.scale(4.0)] * self.steps], axis=1)
        noise = laplace(X, scales, rng).T
        threshold = grid.whole(np.full(len(X), 0.5 + self.margin)) + noise[0]
        passed: Bools = grid.whole(p) + noise[1:] >= threshold
        return np.where(passed.any(axis=0), 1.0 + passed.argmax(axis=0), 0.0)

    def deployed(self) -> ClippedLogistic:
        """A trainer of models that this part can explain."""
        return DEPLOYED

    @classmethod
    def example(cls, epsilon: float, columns: int = 20) -> AboveThreshold:
        """A part with this epsilon, for tests of the guarantee on standardised columns."""
        return cls(epsilon, example(columns))

    def for_columns(self, columns: int) -> AboveThreshold:
        """The same part with public data of this many standardised columns, for tests of the guarantee."""
        return replace(self, public=example(columns))

    def guarantee(self, schema: Schema | None = None) -> Guarantee:
        """Epsilon per explanation, for the explanations alone; void if the schema's constants come from the rows."""
        return per_answer("sparse vector technique along a public direction", self.epsilon).on(schema)


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The explainer for one model, and the unit vector (P,) along which it moves records."""

    part: AboveThreshold
    model: StableModel
    encoding: Encoding
    direction: Floats

    def explain(self, X: Floats, rng: Rng) -> Counterfactual:
        """The first rows (n, D) that pass the threshold."""
        part = self.part
        requests = recourse_requests("above_threshold", self.model, X, self.encoding.schema)
        way = np.outer(requests.sign, self.direction)
        step = released("first step", lambda: part.first(self.model, X, requests, way, rng))
        found = requests.needed & (step > 0)
        rows = moved(X, way * (step * part.reach / part.steps)[:, None], self.encoding)
        return Counterfactual(np.where(found[:, None], rows, X), found)
