"""The closed-form counterfactual of a linear model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Gives, Wants
from jali.core.protocols import Model
from jali.core.values import Dataset, Floats, Ints, Rng, Schema
from jali.explain._recourse.integers import frugal, legal, rounded, units
from jali.explain._recourse.search import Points, nearer
from jali.explain._recourse.task import Task
from jali.explain.native.capability import linear
from jali.models.fitted.linear import lead

OVERSHOOT = 1e-6  # how far beyond the boundary a row must lie, as a share of the gap
ROUNDING = 1e-3  # share of the scores that is added to the gap, so that rounding does not undo the crossing


@dataclass(frozen=True)
class LinearRecourse:
    """The exact nearest row with the wanted outcome, for linear models.

    Without bounds: delta = (s - f(z)) w / ||w||^2, at distance |s - f(z)| / ||w||, with f the score of the wanted
    class over the predicted one (intercept included), w its weights on the mutable numeric columns and s = `margin`.
    With bounds: delta_j = clip(t w_j, low_j - z_j, high_j - z_j) for the smallest t that reaches s, found exactly
    from the sorted breakpoints. Whole numbers are then rounded away from the record and moved back as far as the
    outcome allows, or rounded to the nearest where other numbers can compensate, so rows with whole numbers are legal
    and close to the nearest, not always the nearest. Categories do not change. Where the table has a favourable class,
    records that are denied it get an answer; otherwise every record gets the nearest other class. Rows lie beyond the
    boundary by a relative 1e-6.

    Pawelczyk, Lakkaraju and Neel, AISTATS 2023 (closed form for linear models).

    >>> from jali.core.values import Column
    >>> from jali.models.fitted.linear import LinearModel
    >>> schema = Schema((Column("a"), Column("b")), favourable=1)
    >>> model = LinearModel(Encoding(schema), np.array([[0.0, 3.0], [0.0, 4.0]]), np.array([0.0, -25.0]))
    >>> rng = np.random.default_rng(0)
    >>> ready = LinearRecourse().prepare(model, schema, None, rng)
    >>> ready.explain(np.zeros((1, 2)), rng).rows.round(3)
    array([[3., 4.]])
    """

    margin: float = 0.0
    gives: ClassVar[Gives] = "counterfactual"
    reads_training_data: ClassVar[bool] = False
    wants: ClassVar[Wants] = "linear"

    def __post_init__(self) -> None:
        if not 0 <= self.margin < np.inf:
            raise JaliError(f"linear_recourse: margin must be zero or more, and finite; got {self.margin}.")

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> _Prepared:  # noqa: ARG002
        """Pick the weights of the mutable numbers."""
        encoding = Encoding(schema)
        weights = linear("linear_recourse", model, schema).coef
        moves = _Moves(encoding, weights[encoding.movable()])
        return _Prepared(model, schema, moves, _outcomes(schema), self.margin)


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The explainer for one model, and the classes that can be wanted."""

    model: Model
    schema: Schema
    moves: _Moves
    outcomes: tuple[int, ...]
    margin: float

    def explain(self, X: Floats, rng: Rng) -> Counterfactual:  # noqa: ARG002
        """Counterfactual rows (n, D) where one exists."""
        scores = self.model.logits(X)
        predicted = scores.argmax(axis=1)
        favourable = self.schema.favourable
        rows = X.copy()
        spent = np.full(len(X), np.inf)
        for wanted in self.outcomes:
            at = np.flatnonzero(predicted != wanted)
            there, cost = self.moves.nearest(X[at], scores[at], wanted, self.margin)
            better = cost < spent[at]
            rows[at[better]], spent[at[better]] = there[better], cost[better]
        decided = self.model.logits(rows).argmax(axis=1)
        found = np.isfinite(spent) & (decided != predicted if favourable is None else decided == favourable)
        return Counterfactual(np.where(found[:, None], rows, X), found)


@dataclass(frozen=True)
class _Moves:
    """A linear model of moves: a point (p + C,) is a move of the p mutable numbers, followed by the C scores before it.

    The search therefore never touches the other encoded features, of which there are often hundreds.
    """

    encoding: Encoding
    coef: Floats

    @cached_property
    def slope(self) -> Floats:
        """Gradient (C, p + C) of each score by the move; zero in the last C columns, the start scores."""
        return np.pad(self.coef.T, ((0, 0), (0, self.coef.shape[1])))

    def gradient(self, Z: Floats, of: Ints) -> Floats:
        """Gradient (n, p + C) of the score of class of (n,); the same at all points Z."""
        return self.slope[np.broadcast_to(of, len(Z))]

    def margin(self, Z: Floats, of: Ints) -> tuple[Floats, Floats]:
        """Score of class of (n,) minus the best other one, (n,), and its gradient (n, p + C) at points Z."""
        free = len(self.coef)
        value, rival = lead(Z[:, :free] @ self.coef + Z[:, free:], of)
        return value, self.slope[of] - self.slope[rival]

    def nearest(self, X: Floats, scores: Floats, wanted: int, beyond: float) -> tuple[Floats, Floats]:
        """Legal rows (n, D) of the wanted class, and their l2 distance (n,), infinite where there is none."""
        free = np.flatnonzero(self.encoding.movable())
        at = self.encoding.source[free]
        rows = X.copy()
        columns = [self.encoding.schema.columns[j] for j in at]
        low = np.array([c.low for c in columns])
        high = np.array([c.high for c in columns])
        spread = np.array([c.spread for c in columns])
        task = self._task(((low, high) - X[:, None, at]) / spread, scores, wanted, beyond)
        unit = np.append(units(self.encoding)[free], np.zeros(scores.shape[1]))
        z, found = _legal(task, unit)
        move = z[:, : len(at)]
        there = X[:, at] + move * spread
        there = np.clip(np.where(unit[: len(at)] > 0, np.rint(there), there), low, high)
        rows[:, at] = np.where(move != 0, there, X[:, at])
        return rows, np.where(found, task.spent(z), np.inf)

    def _task(self, room: Floats, scores: Floats, wanted: int, beyond: float) -> Task:
        """The search from no move to just beyond the margin; room (n, 2, p): how far numbers may fall and rise."""
        still = np.zeros((len(scores), len(self.coef)))
        room = np.clip(room, [[-np.inf], [0.0]], [[0.0], [np.inf]])
        origin = np.concatenate([still, scores], axis=1)
        low = np.concatenate([room[:, 0], scores], axis=1)
        high = np.concatenate([room[:, 1], scores], axis=1)
        of = np.full(len(scores), wanted)
        gap = beyond - self.margin(origin, of)[0] + ROUNDING * (1 + np.abs(scores).max(axis=1))
        return Task(self, origin, of, low, high, beyond + OVERSHOOT / 2 * gap, "l2")


def _legal(task: Task, unit: Floats) -> Points:
    """The closed form with whole numbers rounded; where other numbers may move, they compensate for the rounding."""
    whole = unit > 0
    if not (task.low < task.high)[:, ~whole].any():
        return frugal(task, lambda t: legal(t, _solved(t), unit), unit)
    exact = _solved(task)
    best = legal(task, exact, unit)
    for z in (best[0], rounded(task, exact[0], unit)) if whole.any() else ():
        best = nearer(task, best, _solved(task.held(whole, z)))
    return best


def _solved(task: Task) -> Points:
    """The nearest points just beyond the goal."""
    value, slope = task.margin(task.origin)
    z = task.step(task.origin, slope, (1 + OVERSHOOT / 2) * (task.goal - value))
    return z, task.margin(z)[0] >= task.goal


def _outcomes(schema: Schema) -> tuple[int, ...]:
    """The classes that can be wanted."""
    if schema.favourable is None:
        return tuple(range(len(schema.classes)))
    if len(schema.classes) > 2:
        raise JaliError(
            "linear_recourse supports a favourable class for two classes only: leave the favourable class out to get "
            "the nearest other class, or merge classes."
        )
    return (schema.favourable,)
