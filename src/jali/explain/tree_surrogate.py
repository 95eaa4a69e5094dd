"""A plain decision tree that imitates the black box."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from jali.core.errors import JaliError
from jali.core.explanation import Gives, Surrogate, Wants
from jali.core.protocols import Model
from jali.core.values import Dataset, Floats, Rng, Schema
from jali.explain._attribution.marginals import required
from jali.explain._surrogate.trees import Tree, fitted


@dataclass(frozen=True)
class TreeSurrogate:
    """One decision tree of at most `depth` (0: any), grown on the training rows with the black box's labels.

    CART of scikit-learn with Gini impurity and at least `leaf` rows in a leaf. Numbers are split at a bound, one
    category from all others. The tree is the same for every record, and the baseline for `trepan`. Bounds lie halfway
    between the values of two training rows, and the proportions in a leaf count training rows. With `labels` = "true"
    the tree is grown on the true outcomes: an interpretable model that could be published in place of an explanation.

    Breiman, Friedman, Olshen and Stone, Classification and Regression Trees, 1984; the baseline with which Naretto,
    Monreale and Giannotti, Evaluating the privacy exposure of interpretable global and local explainers, 2024, compare
    TREPAN.

    >>> from jali.core.values import Column
    >>> from jali.core.encoding import Encoding
    >>> from jali.models.fitted.linear import LinearModel
    >>> schema = Schema((Column("income", "integer"),), classes=("denied", "granted"))
    >>> model = LinearModel(Encoding(schema), np.array([[0.0, 1.0]]), np.array([0.0, -25.0]))
    >>> train = Dataset(np.arange(0.0, 60.0, 10.0)[:, None], [0, 1, 0, 1, 1, 1], schema)
    >>> rng = np.random.default_rng(0)
    >>> ready = TreeSurrogate().prepare(model, schema, train, rng)
    >>> made = ready.explain(train.X, rng)
    >>> [rule.sentence(schema) for rule in made.models[0].rules()]
    ['If income is at most 25, then denied.', 'If income is at least 26, then granted.']
    """

    depth: int = 5
    leaf: int = 1
    labels: Literal["predicted", "true"] = "predicted"
    local: ClassVar[bool] = False
    gives: ClassVar[Gives] = "surrogate"
    wants: ClassVar[Wants] = "labels"
    reads_training_data: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.depth < 0 or self.leaf < 1:
            raise JaliError(
                f"tree_surrogate: depth must be at least 0 and leaf at least 1, not {self.depth} and {self.leaf}."
            )

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> _Prepared:  # noqa: ARG002
        """Grow the tree; ties are broken with a fixed seed, so rng is not used."""
        rows = required("tree_surrogate", train)
        labels = rows.y if self.labels == "true" else model.logits(rows.X).argmax(axis=1)
        return _Prepared(fitted(rows.X, labels, schema, 0, self.depth, self.leaf))


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The tree of one model."""

    tree: Tree

    def explain(self, X: Floats, rng: Rng) -> Surrogate:  # noqa: ARG002
        """One tree for all rows (n, D)."""
        return Surrogate((self.tree,), np.zeros(len(X), dtype=np.int64), np.ones(len(X), dtype=bool))
