"""The shap library: exact Shapley values of trees, sampled ones of other models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import softmax

from jali.adapters.explainers.callers import TEN
from jali.adapters.explainers.libraries._made import imported, made, on_numbers, required
from jali.adapters.explainers.own import Ready
from jali.adapters.explainers.user_view import UserView
from jali.core.errors import JaliError
from jali.core.explanation import Gives, Wants
from jali.core.protocols import Model, Trees, model_name
from jali.core.values import Dataset, Floats, Rng, Schema


@dataclass(frozen=True)
class Shap:
    """Shapley values as the shap library computes them by default: by its tree explainer, or its kernel explainer.

    algorithm = "tree" reads the trees of the model alone; "kernel" replaces columns by those of `background` training
    rows and explains probabilities; "auto" takes the first that fits. columns: how many columns the kernel explainer
    keeps, ten by default; 0: all. `tree_shap` and `kernel_shap` are this package's own, without training rows.

    Lundberg and Lee, A Unified Approach to Interpreting Model Predictions, NeurIPS 2017.

    >>> Shap(background=50)
    Shap(algorithm='auto', background=50, columns=10)
    """

    algorithm: Literal["auto", "tree", "kernel"] = "auto"
    background: int = 20
    columns: int = 10
    gives: ClassVar[Gives] = "attribution"
    wants: ClassVar[Wants] = "labels"
    reads_training_data: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.background < 1 or self.columns < 0:
            raise JaliError(
                f"shap: background must be at least 1 and columns at least 0, not {self.background} and {self.columns}."
            )

    @property
    def caution(self) -> str:
        """What the default of the kernel explainer does to an audit."""
        if not self.columns or self.algorithm == "tree":
            return ""
        return TEN if self.algorithm == "kernel" else f"Where a model has no trees, {TEN}"

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> Ready:
        """Build the library's explainer."""
        shap = imported("shap", "shap", "shap")
        rows = required("shap", train)
        has_trees = isinstance(model, Trees) and model.has_trees
        if self.algorithm == "tree" and not has_trees:
            raise JaliError(f'shap(algorithm="tree") needs trees, and {model_name(model)} has none: use "kernel".')
        if has_trees and self.algorithm != "kernel":
            view = UserView.of(model, schema)
            return made("shap", "attribution", view, shap.TreeExplainer(view.thing), rows)
        some = rows.X[rng.permutation(len(rows))[: self.background]]
        kernel = shap.KernelExplainer(lambda X: softmax(model.logits(np.asarray(X, dtype=np.float64)), axis=1), some)
        keep = min(self.columns, len(schema.columns))
        thing = _Kernel(kernel, f"num_features({keep})" if keep else 0)
        return made("shap", "attribution", on_numbers(model, schema), thing, rows)


@dataclass(frozen=True, eq=False)
class _Kernel:
    """The kernel explainer with its settings."""

    explainer: Any
    l1_reg: Any

    def __call__(self, rows: Floats) -> Any:
        """Shapley values (n, D, C)."""
        return self.explainer.shap_values(rows, l1_reg=self.l1_reg, silent=True)
