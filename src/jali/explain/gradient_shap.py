"""GradientSHAP: gradients at random points between random baselines and the record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.errors import JaliError
from jali.core.explanation import Attribution, Gives, Wants
from jali.core.protocols import Model
from jali.core.values import Dataset, Floats, Rng, Schema
from jali.explain._attribution.slopes import Slopes


@dataclass(frozen=True)
class GradientShap:
    """Expected gradients, a first-order approximation of Shapley values over random baselines.

    a = 1/S sum_s (z - b_s) * g(b_s + t_s (z - b_s)), g the gradient of logit_c, c the predicted class of the encoded
    record z, t_s uniform on [0, 1] and b_s normal around 0 with standard deviation `spread` in every encoded feature,
    S = `samples`. All records of a call share the same draws, so that no answer depends on the other records.

    Baselines are drawn around the public centre, as in the paper below, so no training row is read. Libraries suggest
    training rows as baselines, which would put other people's values into every answer: such an explainer reads the
    training data again and does not inherit the privacy guarantee of the model.

    Lundberg and Lee, A Unified Approach to Interpreting Model Predictions, NIPS 2017; as in Captum (Kokhlikyan et al.,
    2020), and with the baselines of Huang, Pawelczyk and Lakkaraju, 2024.

    >>> from jali.core.values import Column
    >>> from jali.core.encoding import Encoding
    >>> from jali.models.fitted.linear import LinearModel
    >>> schema = Schema((Column("a"), Column("b")))
    >>> model = LinearModel(Encoding(schema), np.array([[0.0, 2.0], [0.0, -1.0]]), np.zeros(2))
    >>> rng = np.random.default_rng(0)
    >>> ready = GradientShap().prepare(model, schema, None, rng)
    >>> ready.explain(np.array([[3.0, 1.0]]), rng).value.round(1)
    array([[ 6., -1.]])
    """

    samples: int = 5
    spread: float = 0.001
    gives: ClassVar[Gives] = "attribution"
    reads_training_data: ClassVar[bool] = False
    wants: ClassVar[Wants] = "gradient"

    def __post_init__(self) -> None:
        if self.samples < 1 or not 0 <= self.spread < np.inf:
            raise JaliError(
                "gradient_shap: samples must be at least 1 and spread at least 0, "
                f"not {self.samples} and {self.spread}."
            )

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> _Prepared:  # noqa: ARG002
        """Check that the model has gradients; nothing is fitted."""
        return _Prepared(self, Slopes.of("gradient_shap", model, schema))


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The explainer for one model."""

    part: GradientShap
    slopes: Slopes

    def explain(self, X: Floats, rng: Rng) -> Attribution:
        """Attributions (n, P) by encoded feature."""
        records = self.slopes.records(X)
        total = np.zeros_like(records.Z)
        for _ in range(self.part.samples):
            baseline = rng.normal(0.0, self.part.spread, total.shape[1])
            fraction = rng.random()
            way = records.Z - baseline
            total += way * records.gradient(baseline + fraction * way)
        return Attribution(total / self.part.samples)
