"""A scikit-learn classifier whose parameters are chosen by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.imports import ImportPath
from jali.core.protocols import Ensemble, Model
from jali.core.values import Bools, Dataset, Rng
from jali.models.fitted.estimator import Several
from jali.models.fitted.linear import LinearModel, joined
from jali.models.fitted.membership_check import checked
from jali.models.sklearn import Sklearn, literals


@dataclass(frozen=True)
class Tuned:
    """A scikit-learn classifier with the parameters of `grid` that have the best accuracy in cross-validation.

    grid: 'n_estimators=[10, 50], max_leaf_nodes=[10, None]'; every combination is tried on `folds` folds of at most
    `most` (0: all) training rows, drawn at random; of equally good combinations the first is taken. The best one is
    trained on all rows. Each model is tuned on its own training rows only, so it contains nothing about other rows.

    >>> Tuned("sklearn.tree:DecisionTreeClassifier", "max_depth=[1, 3]").folds
    5
    """

    estimator: ImportPath
    grid: str
    folds: int = 5
    most: int = 0

    def __post_init__(self) -> None:
        if self.folds < 2 or self.most < 0:
            raise JaliError(f"tuned: folds must be at least 2 and most at least 0, not {self.folds} and {self.most}.")

    def fit(self, data: Dataset, member: Bools, rngs: list[Rng]) -> Ensemble:
        """Tune and train one estimator per column of member (N, M); column j draws from rngs[j] alone."""
        member = checked(data, member, rngs)
        models = [self._column(data.rows(mine), rng) for mine, rng in zip(member.T, rngs, strict=True)]
        linear = [model for model in models if isinstance(model, LinearModel)]
        return joined(linear) if len(linear) == len(models) else Several(models)

    def _column(self, own: Dataset, rng: Rng) -> Model:
        some = own.rows(np.sort(rng.permutation(len(own))[: self.most or len(own)]))
        best = Sklearn(self.estimator, _written(self._search(some, rng)))
        return best.fit(own, np.ones((len(own), 1), dtype=bool), [rng])[0]

    def _search(self, some: Dataset, rng: Rng) -> dict[str, Any]:
        """The combination of parameters with the best accuracy in cross-validation."""
        from sklearn.model_selection import GridSearchCV, StratifiedKFold

        grid = literals(self.grid)
        if not grid or not all(isinstance(values, list) and values for values in grid.values()):
            raise JaliError(
                f"tuned: grid must list the values of each parameter, 'max_depth=[1, 3]', not {self.grid!r}."
            )
        if int(np.bincount(some.y).min()) < self.folds:
            raise JaliError(f"tuned: {self.folds} folds need as many rows of each class: use fewer folds or more rows.")
        seed = int(rng.integers(2**31))
        folds = StratifiedKFold(self.folds, shuffle=True, random_state=seed)
        fresh = Sklearn(self.estimator).fresh(np.random.default_rng(seed))
        search = GridSearchCV(fresh, grid, scoring="accuracy", cv=folds, refit=False, error_score="raise")
        try:
            return dict(search.fit(Encoding(some.schema).encode(some.X), some.y).best_params_)
        except (ValueError, TypeError) as error:
            raise JaliError(f"tuned: {self.estimator} does not take grid={self.grid!r}: {error}") from None


def _written(params: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in sorted(params.items()))
