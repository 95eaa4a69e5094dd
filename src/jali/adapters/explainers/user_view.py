"""One model as its user has it: the object itself, the rows it reads, and the classes it predicts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import softmax

from jali.adapters.explainers.rows import read
from jali.adapters.models.regression import Regressor
from jali.core.errors import JaliError
from jali.core.protocols import Fed, Model, StandsFor
from jali.core.values import Bools, Floats, Ints, Schema
from jali.data.tables.model_inputs import Rebuilder


class TrainedHere:
    """A model that was trained here, with the methods that other libraries call: predict and predict_proba.

    It reads tables with the columns of the data set, or arrays of them, with categories by name.
    """

    def __init__(self, model: Model, schema: Schema) -> None:
        self.model = model
        self.schema = schema
        self.classes_ = np.array(schema.classes)

    def predict_proba(self, rows: Any) -> Floats:
        """Class probabilities (n, C)."""
        X, legal = read(rows, self.schema)
        if not legal.all():
            raise JaliError("Rows hold values that the table does not know, so the model cannot read them.")
        return np.asarray(softmax(self.model.logits(X), axis=1))

    def predict(self, rows: Any) -> Any:
        """Names of the predicted classes (n,)."""
        return self.classes_[self.predict_proba(rows).argmax(axis=1)]


@dataclass(frozen=True, eq=False)
class UserView:
    """A model with the user's own object behind it.

    thing: the object, such as a fitted estimator. feed: raw rows (n, D) as the object reads them. position (K,): the
    class numbers of the object's own classes.
    """

    model: Model
    schema: Schema
    thing: Any
    feed: Callable[[Floats], Any]
    position: Ints

    @classmethod
    def of(cls, model: Model, schema: Schema) -> UserView:
        """The view of a model; one that was trained here reads tables and has the methods that libraries expect."""
        if isinstance(model, Fed):
            estimator = model.estimator
            thing = estimator.own if isinstance(estimator, StandsFor) else estimator
            return cls(model, schema, thing, model.feed, model.position)
        every = np.arange(len(schema.classes))
        return cls(model, schema, TrainedHere(model, schema), Rebuilder(schema, "frame"), every)

    def rows(self, X: Floats) -> Any:
        """Raw rows (n, D) in the user's own form, which the user's code may change."""
        return self.feed(np.array(X))

    def probabilities(self, rows: Any) -> Floats:
        """Class probabilities (n, K) of rows in the user's own form, in the order of the object's classes."""
        X, legal = read(rows, self.schema)
        if not legal.all():
            raise JaliError("Rows hold values that the table does not know, so the model cannot read them.")
        return np.asarray(softmax(self.model.logits(X)[:, self.position], axis=1))

    @property
    def second(self) -> bool:
        """Whether what the object predicts is one number, so that explanations of it are about the second class."""
        return isinstance(self.model, Fed) and isinstance(self.model.estimator, Regressor)

    @cached_property
    def place(self) -> Ints:
        """The place (C,) of each class of the schema among the object's own classes."""
        out = np.zeros(len(self.schema.classes), dtype=np.int64)
        out[self.position] = np.arange(len(self.position))
        return out


@dataclass(frozen=True, eq=False)
class Tile:
    """Raw rows X (n, D) that are explained together."""

    view: UserView
    X: Floats

    def __len__(self) -> int:
        return len(self.X)

    @cached_property
    def rows(self) -> Any:
        """The rows in the user's own form."""
        return self.view.rows(self.X)

    @cached_property
    def decision(self) -> Ints:
        """The class numbers (n,) that the model predicts."""
        return np.asarray(self.view.model.logits(self.X).argmax(axis=1))

    @cached_property
    def at(self) -> Ints:
        """The predicted classes (n,) by their place among the classes of the user's object."""
        return np.asarray(self.view.place[self.decision])

    def pick(self, which: Bools | Ints) -> Tile:
        """Some of the rows; what was predicted for them is not asked again."""
        out = Tile(self.view, self.X[which])
        if "decision" in self.__dict__:
            out.__dict__["decision"] = self.decision[which]
        return out
