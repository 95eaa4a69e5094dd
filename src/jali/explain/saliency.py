"""Saliency: absolute gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.explanation import Attribution, Gives, Wants
from jali.core.protocols import Model
from jali.core.values import Dataset, Floats, Rng, Schema
from jali.explain._attribution.slopes import Slopes


@dataclass(frozen=True)
class Saliency:
    """The absolute gradient of the score of the predicted class by each column.

    a_j = |d logit_c / d z_j| at the encoded record z, c the predicted class; for a linear model a = |w_c|, the same
    for all records with the same prediction. Simonyan, Vedaldi and Zisserman, Deep Inside Convolutional Networks, 2014;
    with absolute values as in Captum (Kokhlikyan et al., 2020).

    >>> from jali.core.values import Column
    >>> from jali.core.encoding import Encoding
    >>> from jali.models.fitted.linear import LinearModel
    >>> schema = Schema((Column("a"), Column("b")))
    >>> model = LinearModel(Encoding(schema), np.array([[0.0, 2.0], [0.0, -1.0]]), np.zeros(2))
    >>> rng = np.random.default_rng(0)
    >>> ready = Saliency().prepare(model, schema, None, rng)
    >>> ready.explain(np.array([[3.0, 1.0]]), rng).value
    array([[2., 1.]])
    """

    gives: ClassVar[Gives] = "attribution"
    reads_training_data: ClassVar[bool] = False
    wants: ClassVar[Wants] = "gradient"
    reads_missing: ClassVar[bool] = True

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> _Prepared:  # noqa: ARG002
        """Check that the model has gradients; nothing is fitted."""
        return _Prepared(Slopes.of("saliency", model, schema))


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The explainer for one model."""

    slopes: Slopes

    def explain(self, X: Floats, rng: Rng) -> Attribution:  # noqa: ARG002
        """Attributions (n, P) by encoded feature."""
        records = self.slopes.records(X)
        return Attribution(np.abs(records.gradient(records.Z)))
