"""The lime library: weights of a local linear model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import softmax

from jali.adapters.explainers.callers import LIME
from jali.adapters.explainers.libraries._made import imported, made, on_numbers, required
from jali.adapters.explainers.own import Ready
from jali.core.errors import JaliError
from jali.core.explanation import Gives, Wants, categories
from jali.core.protocols import Model
from jali.core.values import Dataset, Floats, Rng, Schema


@dataclass(frozen=True)
class LimeTabular:
    """LIME as the lime library computes it by default: its discretised columns and samples around each record.

    The explainer is built from the training rows and keeps their statistics. All columns get a weight. `lime` is this
    package's own implementation, which reads no training row.

    Ribeiro, Singh and Guestrin, Why Should I Trust You? Explaining the Predictions of Any Classifier, KDD 2016.

    >>> LimeTabular(samples=500)
    LimeTabular(samples=500)
    """

    samples: int = 5000
    gives: ClassVar[Gives] = "attribution"
    wants: ClassVar[Wants] = "labels"
    reads_training_data: ClassVar[bool] = True
    caution: ClassVar[str] = LIME

    def __post_init__(self) -> None:
        if self.samples < 10:
            raise JaliError(f"lime_tabular: samples must be at least 10, not {self.samples}.")

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> Ready:  # noqa: ARG002
        """Build the library's explainer from the training rows."""
        lime = imported("lime.lime_tabular", "lime_tabular", "lime")
        rows = required("lime_tabular", train)
        named = categories(schema)
        explainer = lime.LimeTabularExplainer(
            rows.X,
            feature_names=[column.name for column in schema.columns],
            class_names=list(schema.classes),
            categorical_features=named,
            categorical_names={j: list(schema.columns[j].categories) for j in named},
        )
        view = on_numbers(model, schema)
        return made("lime_tabular", "attribution", view, _Lime(explainer, model, self.samples), rows)


@dataclass(frozen=True, eq=False)
class _Lime:
    """The explainer of one model."""

    explainer: Any
    model: Model
    samples: int

    def explain_instance(self, row: Floats, predict: Any, labels: Any, num_features: int) -> Any:  # noqa: ARG002
        """The explanation of one raw row (D,)."""
        ask = self._probabilities
        return self.explainer.explain_instance(
            row, ask, labels=labels, num_features=num_features, num_samples=self.samples
        )

    def _probabilities(self, rows: Any) -> Floats:
        return np.asarray(softmax(self.model.logits(np.asarray(rows, dtype=np.float64)), axis=1))
