"""From records to legal counterfactual rows, by any search over the encoded features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from jali.core.encoding import Encoding
from jali.core.explanation import Counterfactual
from jali.core.protocols import Differentiable, Model
from jali.core.values import Bools, Floats, Ints, Schema
from jali.explain._recourse.integers import SAME
from jali.explain._recourse.nearest import Cost, length
from jali.explain._recourse.search import Points
from jali.explain._recourse.task import Task, numbers
from jali.explain.native.capability import differentiable

Search = Callable[[Task], Points]


@dataclass(frozen=True, eq=False)
class GradientModel:
    """A model, its gradients, and the encoding in which its decision boundary is searched."""

    model: Model
    gradients: Differentiable
    encoding: Encoding

    @classmethod
    def of(cls, name: str, model: Model, schema: Schema) -> GradientModel:
        """A model with its gradients; raises where it has none."""
        return cls(model, differentiable(name, model, schema), Encoding(schema))


def recourse(searched: GradientModel, X: Floats, cost: Cost, search: Search, one_class: bool = False) -> Counterfactual:
    """Counterfactuals of raw rows (n, D) that lack the favourable class, or of all rows where no class is favourable.

    Numbers move first. Then categories change one at a time, the one with the largest first-order gain first, and
    numbers move again, as long as this can still be cheaper than the best row so far, or no row was found. The search
    must return whole numbers for integer columns. Where no class is favourable, every class other than the present one
    is searched for and the cheapest row is the answer; with one_class, only the one that is nearest by first order.
    """
    model = searched.model
    encoding = searched.encoding
    schema = encoding.schema
    predicted = model.logits(X).argmax(axis=1)
    at = np.flatnonzero(predicted != (-1 if schema.favourable is None else schema.favourable))
    rows, found = X.copy(), np.zeros(len(X), dtype=bool)
    if len(at) and any(c.mutable for c in schema.columns):
        rows[at], spent = _cheapest(searched, X[at], _wanted(searched, X[at], predicted[at], one_class), cost, search)
        found[at] = np.isfinite(spent)
        decided = model.logits(rows).argmax(axis=1)
        found &= decided != predicted if schema.favourable is None else decided == schema.favourable
    return Counterfactual(np.where(found[:, None], rows, X), found)


def _cheapest(searched: GradientModel, X: Floats, wanted: Bools, cost: Cost, search: Search) -> tuple[Floats, Floats]:
    """The cheapest rows (n, D) over all classes that each record wants (n, C), and their cost (n,)."""
    rows = X.copy()
    spent = np.full(len(X), np.inf)
    for c in np.flatnonzero(wanted.any(axis=0)):
        who = np.flatnonzero(wanted[:, c])
        classes = np.full(len(who), c)
        there, price = _Search(searched.gradients, searched.encoding, X[who], classes, cost, search).answers()
        better = price < spent[who]
        rows[who[better]] = there[better]
        spent[who[better]] = price[better]
    return rows, spent


def _wanted(searched: GradientModel, X: Floats, predicted: Ints, one_class: bool) -> Bools:
    """The classes (n, C) that are searched for: the favourable one, else all others or the nearest to first order."""
    encoding = searched.encoding
    schema = encoding.schema
    every = np.arange(len(schema.classes))
    if schema.favourable is not None:
        return np.asarray(np.broadcast_to(every == schema.favourable, (len(X), len(every))))
    if not one_class or len(every) == 2:
        return np.asarray(every != predicted[:, None])
    Z = encoding.encode(X)
    distance = np.full((len(X), len(every)), np.inf)
    for c in every:
        value, slope = searched.gradients.margin(Z, np.full(len(X), c))
        distance[:, c] = -value / np.maximum(length(slope * encoding.movable(), "l2"), 1e-30)
    distance[np.arange(len(X)), predicted] = np.inf
    return np.asarray(every == distance.argmin(axis=1)[:, None])


@dataclass(frozen=True)
class _Search:
    """Records X (n, D) of one model, and the wanted class of each (n,)."""

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
                rows[who[better]] = there[better]
                spent[who[better]] = price[better]
        return rows, spent

    def _moved(self, who: Ints, start: Floats) -> tuple[Floats, Floats]:
        """Legal rows (k, D) after moving the numbers of start (k, D), and their cost (k,) from the records who (k,)."""
        task = numbers(self.model, self.encoding, self.encoding.encode(start), self.wanted[who], self.cost)
        search = self.search if self.encoding.movable().any() else _stay
        z, found = search(task)
        rows = self._raw(start, z, np.abs(z - task.origin) > SAME)
        move = self.encoding.encode(rows) - self.encoding.encode(self.X[who])
        return rows, np.where(found, length(move, self.cost), np.inf)

    def _raw(self, start: Floats, z: Floats, moved: Bools) -> Floats:
        """Raw rows (n, D) of encoded points z (n, P): columns that did not move keep their exact value in start."""
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
        """Rows (n, D) with one more category changed: the one of largest positive first-order gain, if any."""
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
            out = np.where(better[:, None], switched, out)
            most = np.where(better, gain, most)
        return out


def _stay(task: Task) -> Points:
    """The search where no number is mutable: the records themselves."""
    return task.origin, task.margin(task.origin)[0] >= task.goal
