"""Models that leak for certain: noisy labels, learnt by heart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.core.protocols import Model
from jali.core.query import Oracle
from jali.core.values import Bools, Column, Dataset, Schema
from jali.models.sklearn import Sklearn

FOREST = Sklearn("sklearn.ensemble:RandomForestClassifier", "n_estimators=40")
NEAREST = Sklearn("sklearn.neighbors:KNeighborsClassifier", "n_neighbors=1")
TREE = Sklearn("sklearn.tree:DecisionTreeClassifier")


@dataclass(frozen=True)
class Planted:
    """A model, the records asked about, who of them trained it, and rows that the adversary knows."""

    model: Model
    records: Dataset
    inside: Bools
    known: Dataset

    def oracle(self, reveals: str = "probabilities") -> Oracle:
        return Oracle(self.records.schema, self.model.logits, reveals=reveals)


def rows(n: int, d: int, noise: float = 0.2) -> Dataset:
    """Gaussian rows; the label is the sign of the sum of the first two columns, and wrong for a share of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = (X[:, :2].sum(axis=1) > 0) ^ (rng.random(n) < noise)
    return Dataset(X, y.astype(int), Schema(tuple(Column(f"x{j}") for j in range(d))))


def planted(trainer, n: int = 300, d: int = 4, noise: float = 0.2, null: bool = False) -> Planted:
    """n members and n others; with null, the model has seen neither."""
    data, at = rows(4 * n, d, noise), np.arange(4 * n)
    member = (at >= 3 * n) if null else at < n
    model = trainer.fit(data, member[:, None], [np.random.default_rng(1)])[0]
    return Planted(model, data.rows(at < 2 * n), at[: 2 * n] < n, data.rows((at >= 2 * n) & (at < 3 * n)))


def numbered(n: int) -> Dataset:
    """People with a number of their own, on two sides; two in five have the label of the other side."""
    at = np.arange(n)
    X = np.stack([at % 2, np.random.default_rng(0).permutation(n)], axis=1)
    columns = (Column("side", "integer", 0, 1), Column("number", "category", categories=tuple(map(str, at))))
    return Dataset(X, at % 2 ^ (at // 2 % 5 < 2), Schema(columns))
