from __future__ import annotations

import heapq
from dataclasses import replace

import numpy as np
import pytest

from jali.core.distance import distances, ranges
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema
from jali.explain import face
from jali.explain.face import FACE
from jali.models.fitted.linear import LinearModel
from tests.explaining import explained

SCHEMA = Schema(
    (
        Column("a", low=-4, high=4),
        Column("b"),
        Column("sex", "category", categories=("f", "m"), mutable=False),
        Column("job", "category", categories=("x", "y", "z")),
    ),
    favourable=1,
)
POINTS = Schema((Column("a", low=0, high=10), Column("b", low=0, high=10)), favourable=1)


def people(n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.normal(size=(n, 2)), rng.integers(0, 2, n), rng.integers(0, 3, n)])


def linear(schema: Schema, *weight: float, bias: float = 0.0) -> LinearModel:
    return LinearModel(Encoding(schema), np.array([[0.0, w] for w in weight]), np.array([0.0, bias]))


def explain(part, model, X, train):
    return explained(part, model, np.asarray(X, dtype=float), train.schema, train, np.random.default_rng(0))


# --- a path for each record, forwards ------------------------------------------------------------------------------


def oracle(part: FACE, model, x, train: Dataset) -> tuple[float, int]:
    """Cost of the cheapest path of one record, and the row where it ends; the record is one more vertex."""
    n, k, schema = len(train), part.neighbours, train.schema
    spans = ranges(schema, train.X)
    far = distances(np.concatenate([train.X, x[None]]), train.X, schema, spans)
    radius = [sorted(far[i])[min(k + (i < n), n) - 1] for i in range(n + 1)]
    edges: dict[int, dict[int, float]] = {i: {} for i in range(n + 1)}
    fixed = [j for j, c in enumerate(schema.columns) if not c.mutable and part.immutable == "agree"]
    everyone = np.concatenate([train.X, x[None]])
    for i in range(n + 1):
        alike = [j for j in range(n) if (everyone[i, fixed] == train.X[j, fixed]).all() and j != i]
        for j in sorted(alike, key=lambda j: (far[i, j], j))[:k]:
            edges[i][j] = edges[j][i] = far[i, j] * (radius[i] + radius[j]) / 2
    logits = model.logits(train.X)
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    dense = np.array(radius[:n]) <= np.quantile(radius[:n], 1 - part.sparse)
    goals = set(np.flatnonzero((logits.argmax(axis=1) == 1) & (p[:, 1] >= part.confidence) & dense).tolist())
    return cheapest(edges, n, goals)


def cheapest(edges, start: int, goals: set[int]) -> tuple[float, int]:
    queue, done = [(0.0, start)], set()
    while queue:
        cost, i = heapq.heappop(queue)
        if i in goals:
            return cost, i
        if i not in done:
            done.add(i)
            for j, more in edges[i].items():
                heapq.heappush(queue, (cost + more, j))
    return np.inf, -1


@pytest.mark.parametrize(
    "part", [FACE(5), FACE(5, immutable="free"), FACE(3, confidence=0.8, sparse=0.5)], ids=["agree", "free", "strict"]
)
def test_backwards_from_all_ends_is_forwards_from_each_record(part):
    train = Dataset(people(90, 0), np.zeros(90), SCHEMA)
    model = linear(SCHEMA, 1.0, 1.0, 0.0, 0.3, 0.0, 0.5, -0.5, bias=-0.5)
    X = people(25, 1)
    out = explain(part, model, X, train)
    denied = model.logits(X).argmax(axis=1) == 0
    assert out.found.sum() > 0
    assert not out.found[~denied].any()
    for x, end in zip(X[denied], out.origin[denied], strict=True):
        assert end == oracle(part, model, x, train)[1]


# --- by hand -------------------------------------------------------------------------------------------------------


def test_a_dense_way_round_beats_a_leap():
    """(2, 3) is nearer to the record than (8, 2), but alone; a chain of people leads to the other."""
    chain = [[a / 4, 0.0] for a in range(33)] + [[8.0, b / 4] for b in range(1, 9)]
    train = Dataset(np.array([*chain, [2.0, 3.0]]), np.zeros(42), POINTS)
    model = linear(POINTS, 0.0, 1.0, bias=-1.9)
    out = explain(FACE(4, sparse=0.0), model, [[2.0, 0.0]], train)
    np.testing.assert_array_equal(out.rows, [[8.0, 2.0]])
    assert out.origin.tolist() == [40]


def test_ends_must_be_dense_and_sure():
    X = np.array([[5.0, b] for b in np.linspace(0, 4, 17)] + [[5.0, 5.0]])
    train = Dataset(X, np.zeros(18), POINTS)
    record, model = [[5.0, 1.0]], linear(POINTS, 0.0, 4.0, bias=-17.0)  # from b = 4.25 upwards
    assert explain(FACE(3, sparse=0.0), model, record, train).origin.tolist() == [17]
    assert not explain(FACE(3, sparse=0.1), model, record, train).found.any()
    model = linear(POINTS, 0.0, 1.0, bias=-2.9)
    ends = [explain(FACE(3, confidence=c, sparse=0.0), model, record, train).rows[0, 1] for c in (0.5, 0.7)]
    assert ends == [3.0, 3.75]  # where b - 2.9 is above 0, and above log(0.7 / 0.3) = 0.847


def test_no_path_no_answer():
    train = Dataset(
        np.array([[a, 0.0] for a in (0, 0.1, 0.2)] + [[a, 9.0] for a in (0, 0.1, 0.2)]), np.zeros(6), POINTS
    )
    model = linear(POINTS, 0.0, 1.0, bias=-5.0)
    out = explain(FACE(2, sparse=0.0), model, [[0.1, 0.5]], train)
    assert not out.found.any()
    assert explain(FACE(3, sparse=0.0), model, [[0.1, 0.5]], train).found.all()


def test_equal_rows_are_a_step_of_no_length():
    train = Dataset(np.array([[0.0, 0.0]] * 3 + [[1.0, 1.0]] * 3), np.zeros(6), POINTS)
    out = explain(FACE(4, sparse=0.0), linear(POINTS, 1.0, 1.0, bias=-1.0), [[0.0, 0.0]], train)
    np.testing.assert_array_equal(out.rows, [[1.0, 1.0]])


def test_any_other_class_where_none_is_favourable():
    schema = replace(POINTS, favourable=None)
    train = Dataset(np.array([[a, 0.0] for a in np.linspace(0, 10, 21)]), np.zeros(21), schema)
    model = linear(schema, 1.0, 0.0, bias=-5.2)
    out = explain(FACE(2, sparse=0.0), model, [[4.0, 0.0], [9.0, 0.0]], train)
    np.testing.assert_array_equal(out.rows[:, 0], [5.5, 5.0])


# --- what is released, and bad input -------------------------------------------------------------------------------


def test_every_answer_is_a_training_row():
    train = Dataset(people(200, 2), np.zeros(200), SCHEMA)
    model = linear(SCHEMA, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    out = explain(FACE(), model, train.X, train)
    assert FACE().releases_rows()
    np.testing.assert_array_equal(out.origin >= 0, out.found)
    np.testing.assert_array_equal(out.rows[out.found], train.X[out.origin[out.found]])
    np.testing.assert_array_equal(out.rows[:, 2], train.X[:, 2])
    assert (model.logits(out.rows).argmax(axis=1)[out.found] == 1).all()


def test_the_graph_of_one_model_is_made_once(monkeypatch):
    made = []
    monkeypatch.setattr(face, "_joined", lambda pool, k, real=face._joined: made.append(k) or real(pool, k))
    train, model = Dataset(people(60, 3), np.zeros(60), SCHEMA), linear(SCHEMA, *[1.0] * 7, bias=-2.0)
    ready = FACE(5).prepare(model, SCHEMA, train, np.random.default_rng(0))
    for at in (0, 20, 40):
        ready.explain(train.X[at : at + 20], np.random.default_rng(0))
    assert made == [5]


def test_bad_input():
    model = linear(POINTS, 1.0, 1.0)
    with pytest.raises(JaliError, match=r"face answers with rows .* none were given"):
        explained(FACE(), model, np.zeros((1, 2)), POINTS, None, np.random.default_rng(0))
    for wrong in ({"neighbours": 0}, {"confidence": 1.1}, {"sparse": 1.0}, {"immutable": "no"}):
        with pytest.raises(JaliError, match="face: neighbours must be at least 1"):
            FACE(**wrong)
    alone = Dataset(np.array([[5.0, 5.0]]), [1], POINTS)
    assert explain(FACE(), model, [[-1.0, 0.0]], alone).origin.tolist() == [0]
