"""A fitted model that the user brings, and how its shadow models are trained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from jali.core.errors import JaliError
from jali.core.protocols import Trainer
from jali.core.values import Bools, Dataset, Floats, Ints, Rng, Schema
from jali.data.tables.frames import Like, label
from jali.data.tables.model_inputs import Rebuilder
from jali.models.fitted.estimator import (
    SAMPLE,
    FittedModel,
    Several,
    classifier,
    decided,
    fitted,
    fitted_to,
    fresh,
    seeded,
)
from jali.models.fitted.membership_check import checked

Inputs = Literal["frame", "array"]


class Refit(Protocol):
    """Trains one shadow model; it holds no fitted model, so it can be sent to any worker."""

    def fit(self, rows: Any, labels: Any, rng: Rng) -> Any:
        """A fitted estimator, from rows as the given model reads them and labels as it names them."""


@dataclass(frozen=True)
class Given:
    """A fitted classifier or pipeline that reads the user's own table; by default its clones are the shadow models.

    `existing` returns the model itself, `fit` trains the shadow models. `inputs` says what the model was fitted on:
    "frame", a pandas table with names and texts, with the values and dtypes of `like` if that is given; or "array", an
    array of numbers and category codes. The model's classes are matched to those of the schema by name. `refit` trains
    a shadow model in another way than by a clone, `stand_in` is a trainer of ours in the place of the model's own,
    `without` says why there are no shadow models, and `caution` is what a reader must know of all this.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from jali.core.values import Column
    >>> data = Dataset(np.array([[-1.0], [0.0], [2.0]]), [0, 0, 1], Schema((Column("x"),)))
    >>> part = Given(LogisticRegression().fit(data.X, data.y), inputs="array")
    >>> scores = 2 * part.existing(data).logits(data.X)[:, 1]
    >>> bool(np.allclose(scores, part.model.decision_function(data.X)))
    True
    """

    model: Any
    inputs: Inputs = "frame"
    like: Like | None = None
    refit: Refit | None = None
    stand_in: Trainer | None = None
    without: str = ""
    caution: str = ""

    def existing(self, data: Dataset) -> FittedModel:
        """The given model, fed with decoded rows; refused if it then predicts otherwise than on the original rows."""
        places = _places(self.model, data.schema)
        model = fitted(self.model, self._feed(data.schema), data.schema, places, data.X)
        sample = None if self.like is None else self.like.sample
        if sample is not None:
            _check_reading(model, data, sample if self.inputs == "frame" else sample.to_numpy())
        return model

    def fit(self, data: Dataset, member: Bools, rngs: list[Rng]) -> Any:
        """Train one shadow model per training set in member (N, M), on labels as the given model names them."""
        return self.unfitted().fit(data, member, rngs)

    def unfitted(self) -> Trainer:
        """The trainer of the shadow models, without the given model; raises if there is none."""
        if self.without:
            raise JaliError(self.without)
        if self.stand_in is not None:
            return self.stand_in
        like = None if self.like is None else self.like.without_rows()
        classes = np.asarray(classifier(self.model).classes_)
        return _Shadows(self.refit or Cloned(self.model), classes, self.inputs, like)

    def _feed(self, schema: Schema) -> Callable[[Floats], Any]:
        like = None if self.like is None else self.like.without_rows()
        return Rebuilder(schema, self.inputs, like)


class Cloned:
    """Trains unfitted copies of an estimator, each with a random state of its own."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = fresh(estimator)

    def fit(self, rows: Any, labels: Any, rng: Rng) -> Any:
        """A copy, fitted to rows and labels."""
        return fitted_to(seeded(fresh(self.estimator), rng), rows, labels)


@dataclass(frozen=True)
class _Shadows:
    """Trains shadow models; it holds no fitted model, so it can be sent to any worker."""

    refit: Refit
    classes: Any
    inputs: Inputs
    like: Like | None

    def fit(self, data: Dataset, member: Bools, rngs: list[Rng]) -> Several:
        """Train one model per training set in member (N, M), on labels as the given model names them."""
        member = checked(data, member, rngs)
        labels = data.outcome if data.outcome is not None else _labels(self.classes, data)
        feed = Rebuilder(data.schema, self.inputs, self.like)
        models = []
        for mine, rng in zip(member.T, rngs, strict=True):
            X = data.X[mine]
            estimator = classifier(self.refit.fit(feed(X), labels[mine], rng))
            models.append(fitted(estimator, feed, data.schema, _places(estimator, data.schema), X))
        return Several(models)


def _check_reading(model: FittedModel, data: Dataset, rows: Any) -> None:
    """Refuse a table whose values change in decoding: the model would be audited on other rows than its own."""
    rows = rows[:SAMPLE]
    after = model.logits(data.X[: len(rows)]).argmax(axis=1)
    before = decided(model.estimator, rows)
    if before is None:  # it gives scores alone; then ties are decided as those of the rebuilt rows are
        as_given = FittedModel(model.encoding, model.estimator, lambda _: rows, model.position, model.scored)
        before = [data.schema.classes[c] for c in as_given.logits(data.X[: len(rows)]).argmax(axis=1)]
    differ = sum(a != data.schema.classes[b] for a, b in zip(before, after, strict=True))
    if differ > 0.01 * len(rows):
        raise JaliError(
            f"The predictions for {differ} of {len(rows)} rows change when these are rebuilt from the table: "
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
        raise JaliError(
            f"The model predicts {unknown[0]!r}, but the classes of the data are {list(schema.classes)}: give y with "
            "the labels that the model was fitted on."
        )
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
