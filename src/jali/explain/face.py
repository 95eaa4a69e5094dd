"""FACE: counterfactuals that are training rows, reached by a feasible path through other training rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Gives, Wants
from jali.core.protocols import Model
from jali.core.values import Bools, Dataset, Floats, Ints, Rng, Schema
from jali.explain.native.rows import Pool, by_wanted, predictions, wanted_classes

STEP = 1e-12  # least cost of an edge: a sparse matrix drops edges of cost zero


@dataclass(frozen=True)
class FACE:
    """The training row with the wanted outcome that is nearest along paths through dense regions.

    Each training row is joined to its `neighbours` nearest rows in HEOM, and so is the record. An edge costs
    d(i, j) (r_i + r_j) / 2 with r the distance to the k-th nearest row, k = `neighbours`. Density falls as r grows, so
    this is the published d(i, j) f(density) with a positive, decreasing f that is also defined for categories. A path
    ends at a row for which the model predicts the wanted outcome with probability `confidence` or more, and which is
    not among the share `sparse` of training rows with the lowest density. All records share one search, run backwards
    from all end rows at once. Most of the time goes into comparing all pairs of rows, once per model.

    The answer is a real person's row (`releases_rows`), and `origin` is its position. immutable: with "agree",
    immutable columns stay the same along the whole path; with "free" they are ignored. HEOM uses the bounds of the
    schema, as in `nice`.

    Poyiadzi, Sokol, Santos-Rodriguez, De Bie and Flach, FACE: Feasible and Actionable Counterfactual Explanations,
    AIES 2020.

    >>> from jali.core.values import Column
    >>> from jali.core.encoding import Encoding
    >>> from jali.models.fitted.linear import LinearModel
    >>> schema = Schema((Column("a"),), favourable=1)
    >>> model = LinearModel(Encoding(schema), np.array([[0.0, 1.0]]), np.array([0.0, -4.5]))
    >>> train = Dataset(np.arange(8.0)[:, None], np.arange(8) > 4, schema)
    >>> rng = np.random.default_rng(0)
    >>> ready = FACE(neighbours=2).prepare(model, schema, train, rng)
    >>> out = ready.explain(np.array([[0.0]]), rng)
    >>> out.rows, out.origin
    (array([[5.]]), array([5]))
    """

    neighbours: int = 20
    confidence: float = 0.5
    sparse: float = 0.1
    immutable: Literal["agree", "free"] = "agree"
    gives: ClassVar[Gives] = "counterfactual"
    wants: ClassVar[Wants] = "labels"
    reads_training_data: ClassVar[bool] = True

    def __post_init__(self) -> None:
        whole = self.neighbours >= 1 and self.immutable in ("agree", "free")
        if not (whole and 0 <= self.confidence <= 1 and 0 <= self.sparse < 1):
            raise JaliError(
                "face: neighbours must be at least 1, confidence from 0 to 1, sparse from 0 to below 1, "
                f"immutable agree or free; got {self}."
            )

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> _Prepared:  # noqa: ARG002
        """Build the graph of the training rows and label them with the model; rng is not used."""
        pool, rows = Pool.of("face", train, schema, "schema", self.immutable)
        p, label = predictions(model, rows.X)
        graph = _joined(pool, self.neighbours)
        dense = graph.radius <= np.quantile(graph.radius, 1 - self.sparse)
        return _Prepared(model, graph, label, (p.max(axis=1) >= self.confidence) & dense, self.confidence)

    def releases_rows(self) -> bool:
        """True: the answer is a real person's row."""
        return True

    def keeps_immutable(self) -> bool:
        """Whether immutable columns stay the same along the whole path."""
        return self.immutable == "agree"


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The explainer for one model: the graph, the predicted label (N,) of its rows, and which rows may end a path."""

    model: Model
    graph: _Graph
    label: Ints
    eligible: Bools
    confidence: float

    def showable(self) -> Bools:
        """Which training rows (N,) may be shown to anybody: the confident ones in dense regions."""
        return self.eligible

    def may_show(self, rows: Floats) -> Bools:
        """Whether the model is confident enough about rows (n, D)."""
        return np.asarray(predictions(self.model, rows)[0].max(axis=1) >= self.confidence)

    def explain(self, X: Floats, rng: Rng) -> Counterfactual:  # noqa: ARG002
        """Counterfactual rows (n, D) where a path leads to one, and which training rows they are."""
        wanted = wanted_classes(predictions(self.model, X)[1], self.graph.pool.schema)
        origin = np.full(len(X), -1)
        for who, classes in by_wanted(wanted):
            origin[who] = self.graph.ends(X[who], self.eligible & classes[self.label])
        found = origin >= 0
        return Counterfactual(np.where(found[:, None], self.graph.pool.rows[origin], X), found, origin=origin)


@dataclass(frozen=True, eq=False)
class _Graph:
    """The neighbour graph: edges, a sparse matrix (N, N) of costs, and radius (N,), the distance to the k-th row."""

    pool: Pool
    k: int
    edges: Any
    radius: Floats

    def ends(self, X: Floats, allowed: Bools) -> Ints:
        """Position (n,) of the allowed row at the end of the cheapest path from X (n, D); -1 where there is no path."""
        from scipy.sparse.csgraph import dijkstra

        if not allowed.any():
            return np.full(len(X), -1)
        ends = np.flatnonzero(allowed)
        cost, _, end = dijkstra(self.edges, indices=ends, min_only=True, return_predecessors=True)
        first, distance, own = _surroundings(self.pool, X, self.k)
        total = np.where(first >= 0, _cost(distance, own[:, None], self.radius[first]) + cost[first], np.inf)
        best = total.argmin(axis=1)
        at = np.arange(len(X))
        return np.where(np.isfinite(total[at, best]), end[first[at, best]], -1)


def _joined(pool: Pool, k: int) -> _Graph:
    """The graph that joins each row, in both directions, to its k nearest rows with the same fixed columns."""
    from scipy.sparse import coo_array

    near, distance, radius = _surroundings(pool, pool.rows, k + 1)  # a row is its own neighbour
    n = len(pool.rows)
    one, place = np.nonzero((near >= 0) & (near != np.arange(n)[:, None]))
    two = near[one, place]
    cost = _cost(distance[one, place], radius[one], radius[two])
    edges = coo_array((cost, (one, two)), shape=(n, n)).tocsr()
    return _Graph(pool, k, edges.maximum(edges.T), radius)


def _surroundings(pool: Pool, X: Floats, k: int) -> tuple[Ints, Floats, Floats]:
    """The k nearest rows (n, k) with the same fixed columns as X (n, D), their distances (n, k), and the radius (n,).

    The radius is the distance to the k-th nearest of all rows, or to the last one where there are fewer than k.
    """
    near, distance = pool.nearest(X, k)
    far = replace(pool, fixed=pool.fixed[:0]).nearest(X, k)[1] if len(pool.fixed) else distance
    return near, distance, far[:, min(k, len(pool.rows)) - 1]


def _cost(distance: Floats, one: Floats, two: Floats) -> Floats:
    """Cost of edges of these lengths between rows with radii one and two."""
    return np.maximum(distance * (one + two) / 2, STEP)
