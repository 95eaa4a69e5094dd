"""A model the user already has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from jali.core import Bools, Dataset, Floats, Ints, JaliError, Rng, Schema
from jali.data._frames import frame, restored
from jali.models._estimator import FittedModel, Several, classifier, fitted, fresh, seeded, trained
from jali.models._members import checked


@dataclass(frozen=True)
class Given:
    """A fitted scikit-learn classifier or pipeline that reads the user's own table; shadows are clones of it.

    `target` is the model itself, `fit` trains the shadows. `inputs` says what the model was fitted on: a pandas
    table with names and texts, with the values and dtypes of `like` if that is given, or an array of numbers and
    category codes. Its classes are matched to those of the schema by name.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from jali.core import Column
    >>> data = Dataset(np.array([[-1.0], [0.0], [2.0]]), [0, 0, 1], Schema((Column("x"),)))
    >>> part = Given(LogisticRegression().fit(data.X, data.y), inputs="array")
    >>> scores = 2 * part.target(data).logits(data.X)[:, 1]
    >>> bool(np.allclose(scores, part.model.decision_function(data.X)))
    True
    """

    model: Any
    inputs: Literal["frame", "array"] = "frame"
    like: Any = None

    def target(self, data: Dataset) -> FittedModel:
        """The given model itself."""
        places = _places(self.model, data.schema)
        return fitted(self.model, self._feed(data.schema), data.schema, places, data.X)

    def fit(self, data: Dataset, member: Bools, rngs: list[Rng]) -> Several:
        """Train one clone per column of member (N, M), on labels as the given model knows them."""
        member = checked(data, member, rngs)
        labels, feed = _labels(self.model, data), self._feed(data.schema)
        models = []
        for mine, rng in zip(member.T, rngs, strict=True):
            X = data.X[mine]
            estimator = trained(seeded(fresh(self.model), rng), feed(X), labels[mine])
            models.append(fitted(estimator, feed, data.schema, _places(estimator, data.schema), X))
        return Several(models)

    def _feed(self, schema: Schema) -> Callable[[Floats], Any]:
        return np.asarray if self.inputs == "array" else partial(_table, schema=schema, like=self.like)


def _table(X: Floats, schema: Schema, like: Any) -> Any:
    """Raw rows as the table the model was fitted on."""
    table = frame(X, schema)
    return table if like is None else restored(table, like)


def _names(estimator: Any) -> list[str]:
    """The classes of an estimator as a schema names them: whole numbers without a point."""
    classes = classifier(estimator).classes_
    return [str(int(c) if isinstance(c, float) and c.is_integer() else c) for c in classes]


def _places(estimator: Any, schema: Schema) -> Ints:
    """Class number of the schema (K,) of each class of an estimator."""
    names = _names(estimator)
    strange = [n for n in names if n not in schema.classes]
    if strange:
        raise JaliError(f"The model predicts {strange[0]!r}, but the classes of the data are {list(schema.classes)}.")
    return np.array([schema.classes.index(n) for n in names])


def _labels(estimator: Any, data: Dataset) -> Any:
    """The outcome (N,) of every row in the words of an estimator."""
    places = _places(estimator, data.schema)
    unknown = np.setdiff1d(data.y, places)
    if len(unknown):
        name = data.schema.classes[unknown[0]]
        raise JaliError(f"Rows are of class {name!r}, which the model does not predict: leave them out.")
    back = np.zeros(len(data.schema.classes), dtype=np.int64)
    back[places] = np.arange(len(places))
    return np.asarray(estimator.classes_)[back[data.y]]
