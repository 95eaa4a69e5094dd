"""From records to legal rows with another outcome, around any search in model space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from jali.core.encoding import Encoding
from jali.core.explanation import Counterfactual
from jali.core.protocols import Differentiable, Model
from jali.core.values import Bools, Floats, Ints, Schema
from jali.explain._recourse.nearest import Cost, length
from jali.explain._recourse.search import Points
from jali.explain._recourse.task import Task, numbers
from jali.explain._recourse.whole import SAME
from jali.explain.native.capability import differentiable

Search = Callable[[Task], Points]


@dataclass(frozen=True, eq=False)
class Ground:
    """A model with gradients and the encoding in which its boundary is searched."""

    model: Model
    able: Differentiable
    encoding: Encoding

    @classmethod
    def of(cls, name: str, model: Model, schema: Schema) -> Ground:
        """That of a model, or one sentence where it has no gradients."""
        return cls(model, differentiable(name, model, schema), Encoding(schema))


def recourse(ground: Ground, X: Floats, cost: Cost, search: Search) -> Counterfactual:
    """Counterfactuals of raw rows (n, D) for everybody who asks; search leaves whole numbers whole.

    Numbers move first; then categories change one at a time, the one with the largest first-order gain, and numbers
    move again, as long as that may still be cheaper than the best row so far or there is none.
    """
    model, known, encoding = ground.model, ground.able, ground.encoding
    schema = encoding.schema
    predicted = model.logits(X).argmax(axis=1)
    at = np.flatnonzero(predicted != (-1 if schema.favourable is None else schema.favourable))
    rows, found = X.copy(), np.zeros(len(X), dtype=bool)
    if len(at) and any(c.mutable for c in schema.columns):
        wanted = _wanted(known, encoding, X[at], predicted[at])
        rows[at], spent = _Quest(known, encoding, X[at], wanted, cost, search).answers()
        found[at] = np.isfinite(spent)
        decided = model.logits(rows).argmax(axis=1)
        found &= decided != predicted if schema.favourable is None else decided == schema.favourable
    return Counterfactual(np.where(found[:, None], rows, X), found)


def _wanted(known: Differentiable, encoding: Encoding, X: Floats, predicted: Ints) -> Ints:
    """Class (n,) each record asks for: the favourable one, else the one that looks nearest from where it stands."""
    schema = encoding.schema
    if schema.favourable is not None:
        return np.full(len(X), schema.favourable)
    Z, distance = encoding.encode(X), np.full((len(X), len(schema.classes)), np.inf)
    for c in range(len(schema.classes)):
        value, slope = known.margin(Z, np.full(len(X), c))
        distance[:, c] = -value / np.maximum(length(slope * encoding.movable(), "l2"), 1e-30)
    distance[np.arange(len(X)), predicted] = np.inf
    return np.asarray(distance.argmin(axis=1))


@dataclass(frozen=True)
class _Quest:
    """Records X (n, D) of one model and the class each wants (n,)."""

    model: Differentiable
    encoding: Encoding
    X: Floats
    wanted: Ints
    cost: Cost
    search: Search

    def answers(self) -> tuple[Floats, Floats]:
        """The cheapest legal rows (n, D) found, and their cost (n,), infinite where there is none."""
        every, now = np.arange(len(self.X)), self.X
        rows, spent = self._moved(every, now)
        for switches in range(1, len(self._categories()) + 1):
            now = self._switched(now)
            least = 2.0 * switches if self.cost == "l1" else np.sqrt(2.0 * switches)
            who = np.flatnonzero((spent > least) & ((now != self.X)[:, self._categories()].sum(axis=1) == switches))
            if len(who):
                there, price = self._moved(who, now[who])
                better = price < spent[who]
                rows[who[better]], spent[who[better]] = there[better], price[better]
        return rows, spent

    def _moved(self, who: Ints, start: Floats) -> tuple[Floats, Floats]:
        """Legal rows (k, D) from moving numbers of rows start of records who (k,), and what they cost in all (k,)."""
        task = numbers(self.model, self.encoding, self.encoding.encode(start), self.wanted[who], self.cost)
        search = self.search if self.encoding.movable().any() else _stay
        z, found = search(task)
        rows = self._raw(start, z, np.abs(z - task.origin) > SAME)
        move = self.encoding.encode(rows) - self.encoding.encode(self.X[who])
        return rows, np.where(found, length(move, self.cost), np.inf)

    def _raw(self, start: Floats, z: Floats, moved: Bools) -> Floats:
        """Raw rows of points z (n, P): start where a column has not moved, a legal value where it has."""
        there = self.encoding.decode(z)
        out = start.copy()
        for at in np.flatnonzero(self.encoding.movable()):
            j = self.encoding.source[at]
            out[:, j] = np.where(moved[:, at], there[:, j], start[:, j])
        return out

    def _categories(self) -> list[int]:
        """Raw columns that are mutable categories."""
        return [j for j, c in enumerate(self.encoding.schema.columns) if c.mutable and c.kind == "category"]

    def _switched(self, now: Floats) -> Floats:
        """Rows (n, D) with one more category changed: the switch the gradient promises most of, if any promises."""
        Z = self.encoding.encode(now)
        slope = self.model.margin(Z, self.wanted)[1]
        out, most = now.copy(), np.zeros(len(now))
        for j in self._categories():
            block = slope[:, self.encoding.source == j]
            there = block.argmax(axis=1)
            gain = block.max(axis=1) - np.take_along_axis(block, now[:, [j]].astype(np.int64), axis=1)[:, 0]
            better = (now[:, j] == self.X[:, j]) & (gain > most)
            switched = now.copy()
            switched[:, j] = there
            out, most = np.where(better[:, None], switched, out), np.where(better, gain, most)
        return out


def _stay(task: Task) -> Points:
    """The records themselves, where no number may move."""
    return task.origin, task.margin(task.origin)[0] >= task.goal
