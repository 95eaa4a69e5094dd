"""Integrated gradients: gradients averaged along the line from a baseline to the record."""

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
class IntegratedGradients:
    """The change in the score of the predicted class from a baseline to the record, divided among the columns.

    a_j = (z_j - b) * sum_k w_k g_j(b + t_k (z - b)), g the gradient of logit_c, c the predicted class of the encoded
    record z, and (t_k, w_k) the points and weights of `steps`-point Gauss-Legendre quadrature on [0, 1]. The
    attributions add up to logit_c(z) - logit_c(b), up to quadrature error; for a linear model a = (z - b) * w_c.

    The baseline b has the value `baseline` in every encoded feature: 0 is the public centre of each number, and no
    category at all. No training row is read.

    Sundararajan, Taly and Yan, Axiomatic Attribution for Deep Networks, ICML 2017; points and weights as in Captum
    (Kokhlikyan et al., 2020), and 25 steps as in Huang, Pawelczyk and Lakkaraju, 2024.

    >>> from jali.core.values import Column
    >>> from jali.core.encoding import Encoding
    >>> from jali.models.fitted.linear import LinearModel
    >>> schema = Schema((Column("a"), Column("b")))
    >>> model = LinearModel(Encoding(schema), np.array([[0.0, 2.0], [0.0, -1.0]]), np.zeros(2))
    >>> part = IntegratedGradients(baseline=1.0)
    >>> rng = np.random.default_rng(0)
    >>> ready = part.prepare(model, schema, None, rng)
    >>> ready.explain(np.array([[3.0, 1.0]]), rng).value.round(6)
    array([[ 4., -0.]])
    """

    steps: int = 25
    baseline: float = 0.0
    gives: ClassVar[Gives] = "attribution"
    reads_training_data: ClassVar[bool] = False
    wants: ClassVar[Wants] = "gradient"
    reads_missing: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.steps < 1 or not np.isfinite(self.baseline):
            raise JaliError(
                "integrated_gradients: steps must be at least 1 and baseline finite, "
                f"not {self.steps} and {self.baseline}."
            )

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> _Prepared:  # noqa: ARG002
        """Check that the model has gradients; nothing is fitted."""
        return _Prepared(self, Slopes.of("integrated_gradients", model, schema))


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The explainer for one model."""

    part: IntegratedGradients
    slopes: Slopes

    def explain(self, X: Floats, rng: Rng) -> Attribution:  # noqa: ARG002
        """Attributions (n, P) by encoded feature."""
        records = self.slopes.records(X)
        start = np.full(records.Z.shape[1:], self.part.baseline)
        point, weight = np.polynomial.legendre.leggauss(self.part.steps)
        return Attribution((records.Z - start) * records.average(start, (1 + point) / 2, weight / 2))
