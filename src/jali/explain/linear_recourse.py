"""The closed-form counterfactual of a linear model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core import Bools, Counterfactual, Dataset, Floats, Gives, Ints, JaliError, Linear, Model, Rng, Schema, Wants
from jali.encoding import Encoding
from jali.explain._capability import linear
from jali.explain._nearest import nearest_l2

OVERSHOOT = 1e-6


@dataclass(frozen=True)
class LinearRecourse:
    """The nearest legal row with the outcome hoped for, exactly, for linear models.

    Without bounds: delta = (s - f(z)) w / ||w||^2, at distance |s - f(z)| / ||w||, with f the score of the wanted
    class over the predicted one (intercept included), w its weights on the mutable numeric columns and s = `margin`.
    With bounds: delta_j = clip(t w_j, low_j - z_j, high_j - z_j) for the smallest t that reaches s, found exactly
    from the sorted breakpoints. Whole numbers are then rounded away from the record, which keeps the outcome.
    A table with a favourable class gives recourse to those denied it; without one, everybody is shown the nearest
    other class. Crossing is by a relative 1e-6.

    Pawelczyk, Lakkaraju and Neel, AISTATS 2023 (closed form for linear models).

    >>> from jali.core import Column
    >>> from jali.models._linear import LinearModel
    >>> schema = Schema((Column("a"), Column("b")), favourable=1)
    >>> model = LinearModel(Encoding(schema), np.array([[0.0, 3.0], [0.0, 4.0]]), np.array([0.0, -25.0]))
    >>> LinearRecourse().explain(model, np.zeros((1, 2)), schema, None, np.random.default_rng(0)).rows.round(3)
    array([[3., 4.]])
    """

    margin: float = 0.0
    gives: ClassVar[Gives] = "counterfactual"
    reads: ClassVar[frozenset[str]] = frozenset()
    wants: ClassVar[Wants] = "linear"

    def explain(self, model: Model, X: Floats, schema: Schema, owner: Dataset | None, rng: Rng) -> Counterfactual:  # noqa: ARG002
        """Counterfactual rows (n, D) where one exists."""
        known, encoding = linear("linear_recourse", model, schema), Encoding(schema)
        Z, scores = encoding.encode(X), model.logits(X)
        predicted = scores.argmax(axis=1)
        wanted, asked = self._wanted(known, encoding, scores, predicted, schema)
        weight = (known.coef[:, wanted] - known.coef[:, predicted]).T * encoding.movable()
        gap = np.take_along_axis(scores, np.stack([predicted, wanted], axis=1), axis=1) @ [1.0, -1.0] + self.margin
        low, high = encoding.bounds()
        delta, reached = nearest_l2(weight, gap * (1 + OVERSHOOT) + OVERSHOOT * 1e-3, low - Z, high - Z)
        rows = _outward(X, Z + delta, encoding)
        found = asked & reached & (model.logits(rows).argmax(axis=1) == wanted)
        return Counterfactual(np.where(found[:, None], rows, X), found)

    def _wanted(
        self, known: Linear, encoding: Encoding, scores: Floats, predicted: Ints, schema: Schema
    ) -> tuple[Ints, Bools]:
        """Class to reach (n,) and who asks for it (n,)."""
        if schema.favourable is not None:
            if len(schema.classes) > 2:
                raise JaliError(
                    "linear_recourse has a closed form for two classes only: leave the favourable class out to be "
                    "shown the nearest other class, or merge classes."
                )
            return np.full(len(scores), schema.favourable), predicted != schema.favourable
        weight = (known.coef[:, None, :] - known.coef[:, :, None])[encoding.movable()]
        steep = np.linalg.norm(weight, axis=0)[predicted]
        distance = (scores.max(axis=1, keepdims=True) - scores) / np.maximum(steep, 1e-300)
        distance[np.arange(len(scores)), predicted] = np.inf
        return distance.argmin(axis=1), np.ones(len(scores), dtype=bool)


def _outward(X: Floats, moved: Floats, encoding: Encoding) -> Floats:
    """Raw rows of the moved points: whole numbers rounded away from the record, all else left alone."""
    rows = X.copy()
    for at in np.flatnonzero(encoding.movable()):
        j = encoding.source[at]
        column = encoding.schema.columns[j]
        value = moved[:, at] * column.spread + column.centre
        if column.kind == "integer":
            value = np.where(value > X[:, j], np.ceil(value - 1e-9), np.floor(value + 1e-9))
        rows[:, j] = np.clip(value, column.low, column.high)
    return rows
