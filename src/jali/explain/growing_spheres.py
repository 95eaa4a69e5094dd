"""Growing Spheres: counterfactuals from labels alone, by sampling ever wider shells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Gives, Wants
from jali.core.protocols import Model
from jali.core.values import Bools, Dataset, Floats, Ints, Rng, Schema
from jali.explain._recourse.sampling import Draw, Freedom

CHUNK = 2048  # rows in one call of the model, unless one record has more samples
HALVINGS = 40  # the first ball may shrink to 1e-12 of its size
WIDEN = 1.05  # the least ratio between the outer and the inner radius of a shell
FAR = 1e9  # the largest radius of a shell
ROUNDS = 10  # of refinement
CLOSER = 0.8  # by which the radius of refinement shrinks each round
CUTS = 10  # bisection steps on the line back to the record
# Stages of the search, each with random streams of its own
SHRINK = 0
GROW = 1
REFINE = 2


@dataclass(frozen=True)
class GrowingSpheres:
    """The nearest of many random legal rows with the wanted outcome, for any model that predicts labels.

    Rows are sampled by distance of the encoded features: first in a ball of radius `step` around the record, which is
    halved while it contains a valid row; then in shells from radius a to a + eta, with eta the last radius of the ball
    (or a / 20 if that is more, so that distant outcomes are reached too), until a shell contains a valid row or
    `shells` are used up. The nearest valid row is kept, by l1 or l2. The distance spent on changed categories is not
    available to numbers. Every sampled row has whole numbers, respects bounds and keeps immutable columns. All records
    share the `samples` directions of a shell.

    finish: "sparse", as published, then resets columns to the record's own value, the smallest change first, as long
    as the outcome stays. This never increases the distance, but fewer changed columns are preferred to a shorter
    distance. "refined" samples again around the row found, ever closer, and bisects back towards the record, so its
    rows are nearer; "refined sparse" does both and "plain" neither.

    Laugel et al., Inverse classification for comparison-based interpretability in machine learning, 2017.

    >>> from jali.core.values import Column
    >>> from jali.core.encoding import Encoding
    >>> from jali.models.fitted.linear import LinearModel
    >>> schema = Schema((Column("a"), Column("b")), favourable=1)
    >>> model = LinearModel(Encoding(schema), np.array([[0.0, 3.0], [0.0, 4.0]]), np.array([0.0, -25.0]))
    >>> part = GrowingSpheres(finish="refined")
    >>> rng = np.random.default_rng(0)
    >>> ready = part.prepare(model, schema, None, rng)
    >>> ready.explain(np.zeros((1, 2)), rng).rows.round(1)
    array([[3., 4.]])
    """

    norm: Literal["l1", "l2"] = "l2"
    samples: int = 1000
    step: float = 0.1
    shells: int = 200
    finish: Literal["plain", "sparse", "refined", "refined sparse"] = "sparse"
    gives: ClassVar[Gives] = "counterfactual"
    wants: ClassVar[Wants] = "labels"
    reads_training_data: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.samples < 1 or self.shells < 1 or not 0 < self.step < FAR:
            raise JaliError(
                "growing_spheres: samples and shells must be at least 1 and step above 0, "
                f"not {self.samples}, {self.shells} and {self.step}."
            )

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> _Prepared:  # noqa: ARG002
        """Keep the model and the mutable columns; nothing is fitted, and shells are drawn in `explain`."""
        return _Prepared(self, model, Freedom(schema, int(self.norm[1])))


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The explainer for one model."""

    part: GrowingSpheres
    model: Model
    free: Freedom

    def explain(self, X: Floats, rng: Rng) -> Counterfactual:
        """Counterfactual rows (n, D) where one was found."""
        part, model = self.part, self.model
        schema = self.free.schema
        predicted = model.logits(X).argmax(axis=1)
        denied = schema.favourable is None or predicted != schema.favourable
        answered = np.flatnonzero(np.full(len(X), len(self.free.columns) > 0) & denied)
        search = _Search(model, self.free, X[answered], predicted[answered], part.samples, int(rng.integers(2**63)))
        best = search.grow(part.step, part.shells)
        if "refined" in part.finish:
            search.refine(best)
        if "sparse" in part.finish:
            search.sparsify(best)
        rows, found = X.copy(), np.zeros(len(X), dtype=bool)
        rows[answered] = best.rows
        found[answered] = np.isfinite(best.cost)
        # The scores of some models depend slightly on the other rows of a call, so the final rows are checked again.
        found &= _wanted(model.logits(rows).argmax(axis=1), predicted, schema)
        return Counterfactual(np.where(found[:, None], rows, X), found)


@dataclass(frozen=True)
class _Best:
    """The nearest valid rows so far (n, D), updated in place, and their distance (n,), infinite where there is none."""

    rows: Floats
    cost: Floats

    def improve(self, who: Ints, rows: Floats, cost: Floats) -> None:
        """Replace the rows of records who (k,) where the new ones are nearer."""
        better = cost < self.cost[who]
        self.rows[who[better]], self.cost[who[better]] = rows[better], cost[better]

    def found(self) -> Ints:
        """The records that have a row."""
        return np.flatnonzero(np.isfinite(self.cost))


@dataclass(frozen=True)
class _Search:
    """One model, the records X (n, D) that get an answer, and their predicted class (n,)."""

    model: Model
    free: Freedom
    X: Floats
    predicted: Ints
    samples: int
    seed: int

    def grow(self, step: float, shells: int) -> _Best:
        """Sample shells as wide as the last ball, until one contains a valid row."""
        best = _Best(self.X.copy(), np.full(len(self.X), np.inf))
        width = self._halve(best, step)
        who, low = np.arange(len(self.X)), width
        for k in range(shells):
            high = np.minimum(np.maximum(low + width[who], WIDEN * low), FAR)
            best.improve(who, *self._nearest(who, self.X, low, high, best.cost[who], self._draw(GROW, k)))
            missing = np.isinf(best.cost[who])
            who, low = who[missing], high[missing]
            if not len(who):
                break
        return best

    def _halve(self, best: _Best, step: float) -> Floats:
        """Radius (n,) of a ball in which no sample is valid; the nearest valid rows of larger balls are kept."""
        width, who = np.full(len(self.X), step), np.arange(len(self.X))
        for k in range(HALVINGS):
            inner, limit = np.zeros(len(who)), np.full(len(who), np.inf)
            rows, cost = self._nearest(who, self.X, inner, width[who], limit, self._draw(SHRINK, k))
            best.improve(who, rows, cost)
            who = who[np.isfinite(cost)]
            width[who] /= 2
            if not len(who):
                break
        return width

    def refine(self, best: _Best) -> None:
        """Sample around the rows found, ever closer, each time bisecting back towards the record."""
        who = best.found()
        self._bisect(who, best)
        for k in range(ROUNDS):
            inner, limit = np.zeros(len(who)), best.cost[who]
            reach = limit * CLOSER ** (k + 1)
            best.improve(who, *self._nearest(who, best.rows, inner, reach, limit, self._draw(REFINE, k)))
            self._bisect(who, best)

    def _bisect(self, who: Ints, best: _Best) -> None:
        """Move numbers back towards the record, to within 2^-CUTS of the last valid point on the line."""
        low = np.zeros(len(who))
        high = np.ones(len(who))
        end = best.rows[who]
        for _ in range(CUTS):
            middle = (low + high) / 2
            valid = self._try(who, self.free.between(self.X[who], end, middle), best)
            low, high = np.where(valid, low, middle), np.where(valid, middle, high)

    def sparsify(self, best: _Best) -> None:
        """Reset columns one by one to the record's own value where the outcome stays, smallest change first."""
        who = best.found()
        order = self.free.parts(best.rows[who], self.X[who]).argsort(axis=1, kind="stable")
        for column in self.free.columns[order].T:
            changed = best.rows[who, column] != self.X[who, column]
            some, at = who[changed], column[changed]
            rows = best.rows[some]
            rows[np.arange(len(some)), at] = self.X[some, at]
            self._try(some, rows, best)

    def _try(self, who: Ints, rows: Floats, best: _Best) -> Bools:
        """Which rows (k, D) of records who (k,) are valid; valid rows that are nearer replace the best ones."""
        valid = self._valid(who, rows)
        best.improve(who[valid], rows[valid], self.free.distance(rows[valid], self.X[who[valid]]))
        return valid

    def _nearest(
        self, who: Ints, centre: Floats, low: Floats, high: Floats, limit: Floats, draw: Draw
    ) -> tuple[Floats, Floats]:
        """Nearest valid row (k, D) of each record who (k,) among samples around its centre, and its distance (k,).

        The model is not queried on samples at distance limit (k,) or more: they cannot become the answer.
        """
        rows, cost = self.X[who], np.full(len(who), np.inf)
        each = max(1, CHUNK // self.samples)
        for at in range(0, len(who), each):
            block = slice(at, at + each)
            mine = who[block]
            k = np.arange(len(mine))
            tried = self.free.around(centre[mine], low[block], high[block], draw)
            far = self.free.distance(tried, rows[block, None])
            near = far < limit[block, None]
            valid = near.copy()
            valid[near] = self._valid(mine[near.nonzero()[0]], tried[near])
            far[~valid] = np.inf
            pick = far.argmin(axis=1)
            rows[block], cost[block] = tried[k, pick], far[k, pick]
        return rows, cost

    def _valid(self, who: Ints, rows: Floats) -> Bools:
        """Whether each row (k, D) has the outcome that its record who (k,) wants."""
        if not len(rows):
            return np.zeros(0, dtype=bool)
        return _wanted(self.model.logits(rows).argmax(axis=1), self.predicted[who], self.free.schema)

    def _draw(self, stage: int, k: int) -> Draw:
        return self.free.draw(self.samples, np.random.default_rng([self.seed, stage, k]))


def _wanted(label: Ints, predicted: Ints, schema: Schema) -> Bools:
    """Which labels (n,) are wanted: the favourable one, else any but the predicted one."""
    return np.asarray(label != predicted if schema.favourable is None else label == schema.favourable)
