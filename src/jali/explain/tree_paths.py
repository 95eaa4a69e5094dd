"""Contributions along the paths of a tree or forest, which add up to its prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.explanation import Attribution, Gives, Wants
from jali.core.protocols import Model, Trees, model_name
from jali.core.values import Dataset, Floats, Ints, Rng, Schema
from jali.explain._attribution.slopes import check
from jali.explain.native.capability import trees
from jali.explain.native.placing import placed


@dataclass(frozen=True)
class TreePaths:
    """How much each split on the way to a leaf changes the predicted probability, summed by column.

    a_j = 1/T sum over trees and nodes v on the path that split on column j of p(next(v)) - p(v), where p(v) is the
    share of the predicted class among the training rows of node v. The attributions add up to the predicted
    probability minus the mean share at the roots. `treeinterpreter` and `shap` (approximate=True) give the same values.

    The shares are statistics of the training rows, which the model stores; no row is read. For decision trees, random
    forests and extra trees of scikit-learn; `tree_shap` explains boosted trees.

    Saabas, Interpreting random forests, 2014; Lundberg et al., 2020, compare it with Shapley values.

    >>> from jali.core import registry
    >>> registry.build("explain", "tree_paths")
    TreePaths()
    """

    gives: ClassVar[Gives] = "attribution"
    reads_training_data: ClassVar[bool] = False
    wants: ClassVar[Wants] = "trees"
    reads_missing: ClassVar[bool] = True

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> _Prepared:  # noqa: ARG002
        """Sum the contributions on the way to every node, tree by tree."""
        forest = trees("tree_paths", model)
        return _Prepared(model, forest, schema, tuple(_contributions(tree) for tree in _trees_of(forest)))


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The explainer for one model; of each tree the contributions (nodes, columns, classes) on the way to each node."""

    model: Model
    forest: Trees
    schema: Schema
    contributions: tuple[Floats, ...]

    def explain(self, X: Floats, rng: Rng) -> Attribution:  # noqa: ARG002
        """Attributions (n, P) by encoded feature."""
        check("tree_paths", X, self.schema)
        rows = np.asarray(self.forest.feed(X), dtype=np.float64)
        of = np.searchsorted(self.forest.position, self.model.logits(X).argmax(axis=1))
        leaves = _leaves(self.forest.estimator, rows)
        total = sum(table[leaves[:, t], :, of] for t, table in enumerate(self.contributions))
        value = np.asarray(total, dtype=np.float64) / len(self.contributions)
        raw = value.shape[1] != len(Encoding(self.schema).source)
        return Attribution(placed(value, X, self.schema) if raw else value)


def _trees_of(model: Trees) -> list[Any]:
    """The trees of scikit-learn that a model consists of."""
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    estimator = model.estimator
    if isinstance(estimator, RandomForestClassifier | ExtraTreesClassifier):
        return [one.tree_ for one in estimator.estimators_]
    if isinstance(estimator, DecisionTreeClassifier):
        return [estimator.tree_]
    raise JaliError(
        f"tree_paths explains decision trees, random forests and extra trees of scikit-learn, not {model_name(model)}: "
        "use tree_shap for boosted trees."
    )


def _leaves(estimator: Any, rows: Floats) -> Ints:
    """The leaf of each row in each tree (n, trees)."""
    found: Ints = np.asarray(estimator.apply(rows), dtype=np.int64).reshape(len(rows), -1)
    return found


def _contributions(tree: Any) -> Floats:
    """Sums (nodes, columns, classes) of the changes of the class shares on the way to each node of one tree.

    Children have larger numbers than their parents, so that one pass in this order is enough.
    """
    share = tree.value[:, 0, :] / tree.value[:, 0, :].sum(axis=1, keepdims=True)
    out = np.zeros((tree.node_count, tree.n_features, share.shape[1]), dtype=np.float32)
    for node in np.flatnonzero(tree.children_left >= 0):
        for child in (tree.children_left[node], tree.children_right[node]):
            out[child] = out[node]
            out[child, tree.feature[node]] += share[child] - share[node]
    return out
