"""A function that gives probabilities, as an estimator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Floats
from jali.models.fitted.answers import probabilities
from jali.models.fitted.estimator import first_line


class FunctionModel:
    """Any function predict_proba(X): what it returns is recognised, and its columns are the classes in order.

    >>> model = FunctionModel(lambda X: X[:, 0], ["no", "yes"], "mine")
    >>> model.predict_proba(np.array([[0.25]])).tolist()
    [[0.75, 0.25]]
    """

    def __init__(
        self, function: Callable[[Any], Any], classes: Sequence[Any], name: str, owner: Any | None = None
    ) -> None:
        self.function = function
        self.classes_ = np.asarray(classes)
        self.name = name
        self.owner = owner

    def __repr__(self) -> str:
        return f"FunctionModel({self.name})"

    @property
    def own(self) -> Any:
        """The object whose method the function is; of a plain function this model, which can be called as well."""
        return self if self.owner is None else self.owner

    def __call__(self, rows: Any) -> Any:
        """What the function returns."""
        return self.function(rows)

    def predict(self, rows: Any) -> Any:
        """The most probable classes (n,)."""
        return self.classes_[self.predict_proba(rows).argmax(axis=1)]

    def predict_proba(self, rows: Any) -> Floats:
        """Probabilities (n, K)."""
        try:
            answer = self.function(rows.copy())  # it may change its argument
        except JaliError:
            raise
        except Exception as error:  # a user's code may raise anything
            kind = "a table" if hasattr(rows, "columns") else f"an array of {rows.dtype}"
            raise JaliError(
                f"{self.name} cannot read {kind} of shape {rows.shape}: {type(error).__name__}: {first_line(error)}. "
                "It gets rows in the form of train (sparse matrices as arrays): convert them in the function."
            ) from error
        return probabilities(self.name, answer, list(self.classes_), len(rows))
