"""Gradients at random places between random baselines and the record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.errors import JaliError
from jali.core.explanation import Attribution, Gives, Wants
from jali.core.protocols import Model
from jali.core.values import Dataset, Floats, Rng, Schema
from jali.explain._attribution.slopes import asked


@dataclass(frozen=True)
class GradientShap:
    """Shapley values to first order: gradients on the way from random baselines, averaged.

    a = 1/S sum_s (z - b_s) * g(b_s + t_s (z - b_s)), g the gradient of logit_c, c the predicted class of the encoded
    record z, t_s uniform on [0, 1] and b_s normal around 0 with standard deviation `spread` in every column of model
    space, S = `samples`. One set of draws serves all records of a call, so that none depends on its company.

    Baselines around the public centre read no training row, as in the paper below. Training rows as baselines, which
    libraries suggest, would put other people's values into every answer: that explainer reads its owner's data again,
    and no longer inherits the guarantee of a private model.

    Lundberg and Lee, A Unified Approach to Interpreting Model Predictions, NIPS 2017; as in Captum (Kokhlikyan et al.,
    2020), and with the baselines of Huang, Pawelczyk and Lakkaraju, 2024.

    >>> from jali.core.values import Column
    >>> from jali.core.encoding import Encoding
    >>> from jali.models.fitted.linear import LinearModel
    >>> schema = Schema((Column("a"), Column("b")))
    >>> model = LinearModel(Encoding(schema), np.array([[0.0, 2.0], [0.0, -1.0]]), np.zeros(2))
    >>> GradientShap().explain(model, np.array([[3.0, 1.0]]), schema, None, np.random.default_rng(0)).value.round(1)
    array([[ 6., -1.]])
    """

    samples: int = 5
    spread: float = 0.001
    gives: ClassVar[Gives] = "attribution"
    reads: ClassVar[frozenset[str]] = frozenset()
    wants: ClassVar[Wants] = "gradient"

    def __post_init__(self) -> None:
        if self.samples < 1 or not 0 <= self.spread < np.inf:
            raise JaliError(
                "gradient_shap: samples must be at least 1 and spread at least 0, "
                f"not {self.samples} and {self.spread}."
            )

    def explain(self, model: Model, X: Floats, schema: Schema, owner: Dataset | None, rng: Rng) -> Attribution:  # noqa: ARG002
        """Attributions (n, P) in model space."""
        question = asked("gradient_shap", model, X, schema)
        total = np.zeros_like(question.Z)
        for _ in range(self.samples):
            start, part = rng.normal(0.0, self.spread, total.shape[1]), rng.random()
            way = question.Z - start
            total += way * question.gradient(start + part * way)
        return Attribution(total / self.samples)
