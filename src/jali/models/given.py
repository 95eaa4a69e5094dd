"""A fitted scikit-learn model that the user brings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Bools, Dataset, Floats, Ints, Rng, Schema
from jali.data.tables.frames import Like, label
from jali.data.tables.model_inputs import Rebuilder
from jali.models.fitted.estimator import SAMPLE, FittedModel, Several, classifier, fitted, fresh, seeded, trained
from jali.models.fitted.membership_check import checked


@dataclass(frozen=True)
class Given:
    """A fitted scikit-learn classifier or pipeline that reads the user's own table; its clones are the shadow models.

    `existing` returns the model itself, `fit` trains the shadow models. `inputs` says what the model was fitted on:
    "frame", a pandas table with names and texts, with the values and dtypes of `like` if that is given; or "array", an
    array of numbers and category codes. The model's classes are matched to those of the schema by name.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from jali.core.values import Column
    >>> data = Dataset(np.array([[-1.0], [0.0], [2.0]]), [0, 0, 1], Schema((Column("x"),)))
    >>> part = Given(LogisticRegression().fit(data.X, data.y), inputs="array")
    >>> scores = 2 * part.existing(data).logits(data.X)[:, 1]
    >>> bool(np.allclose(scores, part.model.decision_function(data.X)))
    True
    """

    model: Any
    inputs: Literal["frame", "array"] = "frame"
    like: Like | None = None

    def existing(self, data: Dataset) -> FittedModel:
        """The given model, fed with decoded rows; refused if it then predicts otherwise than on the original rows."""
        places = _places(self.model, data.schema)
        model = fitted(self.model, self._feed(data.schema), data.schema, places, data.X)
        sample = None if self.like is None else self.like.sample
        if sample is not None:
            _check_reading(model, data, sample if self.inputs == "frame" else sample.to_numpy())
        return model

    def fit(self, data: Dataset, member: Bools, rngs: list[Rng]) -> Several:
        """Train one clone per training set in member (N, M), on labels as the given model names them."""
        return self.unfitted().fit(data, member, rngs)

    def unfitted(self) -> _Clones:
        """The trainer of the shadow models: an unfitted clone, and the classes of the model."""
        like = None if self.like is None else self.like.without_rows()
        return _Clones(fresh(self.model), np.asarray(classifier(self.model).classes_), self.inputs, like)

    def _feed(self, schema: Schema) -> Callable[[Floats], Any]:
        like = None if self.like is None else self.like.without_rows()
        return Rebuilder(schema, self.inputs, like)


@dataclass(frozen=True)
class _Clones:
    """Trains clones of a model; it holds no fitted model, so it can be sent to any worker."""

    estimator: Any
    classes: Any
    inputs: Literal["frame", "array"]
    like: Like | None

    def fit(self, data: Dataset, member: Bools, rngs: list[Rng]) -> Several:
        """Train one clone per training set in member (N, M), on labels as the given model names them."""
        member = checked(data, member, rngs)
        labels = _labels(self.classes, data)
        feed = Rebuilder(data.schema, self.inputs, self.like)
        models = []
        for mine, rng in zip(member.T, rngs, strict=True):
            X = data.X[mine]
            estimator = trained(seeded(fresh(self.estimator), rng), feed(X), labels[mine])
            models.append(fitted(estimator, feed, data.schema, _places(estimator, data.schema), X))
        return Several(models)


def _check_reading(model: FittedModel, data: Dataset, rows: Any) -> None:
    """Refuse a table whose values change in decoding: the model would be audited on other rows than its own."""
    some = min(SAMPLE, len(rows), len(data))  # both start with the training rows
    original = [label(c) for c in model.estimator.predict(rows[:some])]
    decoded = [data.schema.classes[c] for c in model.logits(data.X[:some]).argmax(axis=1)]
    differ = sum(a != b for a, b in zip(original, decoded, strict=True))
    if differ > 0.01 * len(original):
        raise JaliError(
            f"The predictions for {differ} of {len(original)} rows change when these are rebuilt from the table: "
            "give columns of plain numbers or plain text, as the model was fitted on them."
        )


def _names(estimator: Any) -> list[str]:
    """The classes of an estimator as a schema names them: whole numbers without a decimal point."""
    classes = classifier(estimator).classes_
    return [label(c) for c in classes]


def _places(estimator: Any, schema: Schema) -> Ints:
    """Class number of the schema (K,) of each class of an estimator."""
    return _numbers(_names(estimator), schema)


def _numbers(names: list[str], schema: Schema) -> Ints:
    """Class number of the schema (K,) of each class by name."""
    unknown = [n for n in names if n not in schema.classes]
    if unknown:
        raise JaliError(f"The model predicts {unknown[0]!r}, but the classes of the data are {list(schema.classes)}.")
    return np.array([schema.classes.index(n) for n in names])


def _labels(classes: Any, data: Dataset) -> Any:
    """The label (N,) of every row as one of an estimator's own classes."""
    places = _numbers([label(c) for c in classes], data.schema)
    unknown = np.setdiff1d(data.y, places)
    if len(unknown):
        name = data.schema.classes[unknown[0]]
        raise JaliError(f"There are rows of class {name!r}, which the model does not predict: leave these rows out.")
    back = np.zeros(len(data.schema.classes), dtype=np.int64)
    back[places] = np.arange(len(places))
    return classes[back[data.y]]
