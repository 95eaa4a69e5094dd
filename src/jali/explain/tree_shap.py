"""Shapley values of trees."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.explanation import Attribution, Gives, Wants
from jali.core.protocols import Model
from jali.core.values import Dataset, Floats, Ints, Rng, Schema
from jali.explain._attribution.slopes import check, placed, public_rows
from jali.explain.native.capability import trees
from jali.models.fitted.estimator import FittedModel


@dataclass(frozen=True)
class TreeShap:
    """What each column adds to the answer of a tree, a forest or boosted trees, as an exact Shapley value.

    a_j = sum over S without j of |S|! (D - |S| - 1)! / D! [v(S + j) - v(S)], where v(S) is the answer if only the
    columns S are known. The answer is the probability of the predicted class for trees and forests, its logit for
    boosted trees; the attributions add up to it less v of nothing.

    background = 0: what is unknown is averaged over the branches of a tree, weighted by how many training rows went
    each way ("path-dependent"). The model carries these counts, so no training row is read, but they are numbers about
    the training data that predictions need not show. background > 0: it is averaged over as many public rows drawn
    from the schema ("interventional"), and the counts stay unused.

    Values of a column that the trees read as one code go to the category that the record has. Needs the shap library;
    fully grown forests take it seconds per 256 records.

    Lundberg et al., From local explanations to global understanding with explainable AI for trees, 2020.

    >>> from jali.core import registry
    >>> registry.build("explain", "tree_shap(background=20)")
    TreeShap(background=20)
    """

    background: int = 0
    gives: ClassVar[Gives] = "attribution"
    reads: ClassVar[frozenset[str]] = frozenset()
    wants: ClassVar[Wants] = "trees"

    def __post_init__(self) -> None:
        if self.background < 0:
            raise JaliError(f"tree_shap: background must be at least 0, not {self.background}.")

    def explain(self, model: Model, X: Floats, schema: Schema, owner: Dataset | None, rng: Rng) -> Attribution:  # noqa: ARG002
        """Attributions (n, P) in model space."""
        check("tree_shap", X, schema)
        forest = trees("tree_shap", model)
        public = _read(forest, public_rows(schema, self.background)) if self.background else None
        values = _values(forest, _read(forest, X), public, model.logits(X).argmax(axis=1))
        raw = values.shape[1] != len(Encoding(schema).source)
        return Attribution(placed(values, X, schema) if raw else values)


def _read(model: FittedModel, X: Floats) -> Floats:
    """Raw rows (n, D) as numbers, the way the trees read them."""
    try:
        return np.asarray(model.feed(X), dtype=np.float64)
    except ValueError:
        raise JaliError(
            f"tree_shap reads numbers, and {model.name} was given texts: audit it on category codes."
        ) from None


def _values(model: FittedModel, rows: Floats, public: Floats | None, of: Ints) -> Floats:
    """Shapley values (n, columns of rows) for the class of (n,) that each row was told."""
    kind = "tree_path_dependent" if public is None else "interventional"
    try:
        explainer = _shap().TreeExplainer(model.estimator, public, feature_perturbation=kind)
        found = np.asarray(explainer.shap_values(rows, check_additivity=False))
    except (ValueError, AssertionError) as error:
        raise JaliError(f"tree_shap cannot read this {model.name}: {error}") from error
    by_class = found if found.ndim == 3 else np.moveaxis(np.stack([-found, found]) / 2, 0, 2)
    at = np.searchsorted(model.position, of)
    return np.take_along_axis(by_class, at[:, None, None], axis=2)[:, :, 0]


def _shap() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what it says about other libraries is not for our readers
            import shap
    except ImportError:
        raise JaliError("tree_shap needs shap, which is not installed: pip install 'jali-audit[shap]'.") from None
    return shap
