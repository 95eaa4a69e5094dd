"""TreeSHAP: exact Shapley values of trees."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.explanation import Attribution, Gives, Wants
from jali.core.protocols import Model, Trees, model_name
from jali.core.values import Dataset, Floats, Ints, Rng, Schema
from jali.explain._attribution.slopes import check, public_rows
from jali.explain.native.capability import trees
from jali.explain.native.placing import placed


@dataclass(frozen=True)
class TreeShap:
    """The exact Shapley value of each column for the prediction of a tree, a forest or boosted trees.

    a_j = sum over S without j of |S|! (D - |S| - 1)! / D! [v(S + j) - v(S)], where v(S) is the prediction if only
    the columns S are known. The prediction is the probability of the predicted class for trees and forests, its logit
    for boosted trees; the attributions add up to v(all columns) - v(no column).

    background = 0: unknown columns are averaged over the branches of a tree, weighted by how many training rows took
    each branch ("path-dependent"). The model stores these counts, so no training row is read; but they are statistics
    of the training data that predictions alone need not reveal. background > 0: unknown columns are averaged over this
    many public rows drawn from the schema ("interventional"), and the counts are not used.

    The value of a column that the trees read as one code goes to the category that the record has. Needs the shap
    library, which takes seconds per 256 records for fully grown forests.

    Lundberg et al., From local explanations to global understanding with explainable AI for trees, 2020.

    >>> from jali.core import registry
    >>> registry.build("explain", "tree_shap(background=20)")
    TreeShap(background=20)
    """

    background: int = 0
    gives: ClassVar[Gives] = "attribution"
    reads_training_data: ClassVar[bool] = False
    wants: ClassVar[Wants] = "trees"
    reads_missing: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.background < 0:
            raise JaliError(f"tree_shap: background must be at least 0, not {self.background}.")

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> _Prepared:  # noqa: ARG002
        """Build the shap library's explainer of the trees, with public background rows if asked for."""
        forest = trees("tree_shap", model)
        public = _read(forest, public_rows(schema, self.background)) if self.background else None
        return _Prepared(model, forest, schema, _explainer(forest, public))


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The explainer for one model, and the shap library's explainer of its trees."""

    model: Model
    forest: Trees
    schema: Schema
    explainer: Any

    def explain(self, X: Floats, rng: Rng) -> Attribution:  # noqa: ARG002
        """Attributions (n, P) by encoded feature."""
        check("tree_shap", X, self.schema)
        values = self._values(_read(self.forest, X), self.model.logits(X).argmax(axis=1))
        raw = values.shape[1] != len(Encoding(self.schema).source)
        return Attribution(placed(values, X, self.schema) if raw else values)

    def _values(self, rows: Floats, of: Ints) -> Floats:
        """Shapley values (n, columns of rows) for the predicted class of (n,) of each row."""
        with _readable(self.forest):
            found = np.asarray(self.explainer.shap_values(rows, check_additivity=False))
        by_class = found if found.ndim == 3 else np.moveaxis(np.stack([-found, found]) / 2, 0, 2)
        at = np.searchsorted(self.forest.position, of)
        return np.take_along_axis(by_class, at[:, None, None], axis=2)[:, :, 0]


def _read(model: Trees, X: Floats) -> Floats:
    """Raw rows (n, D) as numbers, the way the trees read them."""
    try:
        return np.asarray(model.feed(X), dtype=np.float64)
    except ValueError:
        raise JaliError(
            f"tree_shap needs numeric inputs, but {model_name(model)} reads text: audit it on category codes."
        ) from None


def _explainer(model: Trees, public: Floats | None) -> Any:
    """The shap library's explainer of the trees, with public background rows (B, columns of rows) if there are any."""
    kind = "tree_path_dependent" if public is None else "interventional"
    with _readable(model):
        return _shap().TreeExplainer(model.estimator, public, feature_perturbation=kind)


@contextmanager
def _readable(model: Trees) -> Iterator[None]:
    """Turn an error of the shap library into one that names the model."""
    try:
        yield
    except (ValueError, AssertionError) as error:
        raise JaliError(f"tree_shap cannot read this {model_name(model)}: {error}") from error


def _shap() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its import warnings concern other libraries, not our users
            import shap
    except ImportError:
        raise JaliError("tree_shap needs shap, which is not installed: pip install 'jali-audit[shap]'.") from None
    return shap
