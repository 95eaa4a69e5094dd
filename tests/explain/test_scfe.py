from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema
from jali.explain.linear_recourse import LinearRecourse
from jali.explain.scfe import SCFE
from jali.models.fitted.linear import LinearModel
from jali.models.fitted.network import Network
from jali.models.mlp import MLP
from tests.explaining import explained

PLANE = Schema((Column("a", low=-4, high=4), Column("b", low=-4, high=4)), favourable=1)


def explain(part, model, X, schema, seed=0):
    return explained(part, model, np.asarray(X, float), schema, None, np.random.default_rng(seed))


def straight(schema, w, b):
    """A model whose margin is w . z + b."""
    w = np.asarray(w, float)
    return LinearModel(Encoding(schema), np.stack([-w / 2, w / 2], axis=1), np.array([-b / 2, b / 2]))


def curved(hidden, rule, seed=0):
    """A network of two columns, trained on noisy labels, and its records."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 2)).clip(-4, 4)
    y = np.where(rng.random(300) < 0.05, ~rule(X), rule(X)).astype(int)
    part = MLP(hidden=hidden, epochs=60, lr=5e-3)
    return part.fit(Dataset(X, y, PLANE), np.ones((300, 1), bool), [np.random.default_rng(seed)])[0], X


def wide(columns, hidden, seed=0, schema=None):
    """A network with random weights."""
    rng = np.random.default_rng(seed)
    schema = schema or Schema(tuple(Column(f"x{j}", low=-4, high=4) for j in range(columns)), favourable=1)
    P = len(Encoding(schema).source)
    weights = (rng.normal(size=(P, hidden)) / np.sqrt(P), rng.normal(size=(hidden, 2)) / np.sqrt(hidden))
    return Network(Encoding(schema), weights, (rng.normal(size=hidden), np.array([0.6, 0.0]))), schema


@pytest.mark.parametrize("bound", [np.inf, 2.0])
@pytest.mark.parametrize("d", [2, 20, 300])
def test_linear_models_against_the_closed_form(d, bound):
    rng = np.random.default_rng(d)
    schema = Schema(tuple(Column(f"x{j}", low=-bound, high=bound) for j in range(d)), favourable=1)
    model, X = straight(schema, rng.normal(size=d), -1.0), rng.normal(size=(200, d)).clip(-2, 2)
    ours, exact = explain(SCFE(), model, X, schema), explain(LinearRecourse(), model, X, schema)
    np.testing.assert_array_equal(ours.found, exact.found)
    far, least = (np.linalg.norm(out.rows - X, axis=1)[exact.found] for out in (ours, exact))
    assert np.median(far / least) < 1.01
    assert np.quantile(far / least, 0.95) < 1.05
    assert (far > least * (1 - 1e-4)).all()


@pytest.mark.parametrize("bound", [np.inf, 1.5])
def test_l1_on_linear_models_fills_the_steepest_columns_first(bound):
    rng = np.random.default_rng(1)
    d = 12
    schema = Schema(tuple(Column(f"x{j}", low=-bound, high=bound) for j in range(d)), favourable=1)
    w, X = rng.normal(size=d), rng.normal(size=(200, d)).clip(-1.5, 1.5)
    out = explain(SCFE(cost="l1"), straight(schema, w, -1.0), X, schema)
    denied = X @ w < 1.0
    left, least = 1.0 - X @ w, np.zeros(200)
    for j in np.argsort(-np.abs(w)):
        room = bound - np.sign(w[j]) * X[:, j]
        taken = np.clip(left / abs(w[j]), 0, room)
        least, left = least + taken, left - taken * abs(w[j])
    ratio = np.abs(out.rows - X).sum(axis=1)[denied] / least[denied]
    assert out.found[denied].all()
    assert np.median(ratio) < 1.01
    assert np.quantile(ratio, 0.95) < 1.05
    if np.isinf(bound):
        assert ((out.rows != X).sum(axis=1)[denied] == 1).all()


@pytest.mark.parametrize(("cost", "power"), [("l2", 2), ("l1", 1)])
@pytest.mark.parametrize("hidden", [(8,), (24, 24)])
def test_a_fine_grid_finds_nothing_nearer(cost, power, hidden):
    """Over the whole plane in steps of 0.01, no valid point is nearer than ours by more than 2 %."""
    from scipy.spatial import cKDTree

    side = np.linspace(-4, 4, 801)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    for rule in (lambda X: np.sin(2 * X[:, 0]) > X[:, 1], lambda X: np.hypot(X[:, 0], X[:, 1]) > 1.1):
        net, X = curved(hidden, rule)
        denied = net.logits(X).argmax(axis=1) == 0
        valid = np.concatenate([part[net.logits(part).argmax(axis=1) == 1] for part in np.array_split(grid, 40)])
        nearest, _ = cKDTree(valid).query(X[denied], p=power)
        for seed in range(5):  # of the directions it looks in: the answer must not be luck
            out = explain(SCFE(cost=cost), net, X, PLANE, seed)
            assert out.found[denied].all()
            ours = np.linalg.norm(out.rows - X, ord=power, axis=1)[denied]
            assert (ours <= 1.02 * nearest).all()


def test_each_record_alone_gets_the_answer_it_gets_in_company():
    schema = Schema(
        (
            *(Column(f"x{j}", low=-4, high=4) for j in range(6)),
            *(Column(f"n{j}", "integer", -9, 9, spread=2.0) for j in range(3)),
            Column("job", "category", categories=("a", "b", "c")),
        ),
        favourable=1,
    )
    net, _ = wide(0, 200, schema=schema)
    rng = np.random.default_rng(3)
    X = np.concatenate(
        [rng.normal(size=(60, 6)), rng.integers(-4, 5, (60, 3)), rng.integers(0, 3, (60, 1))], axis=1
    ).clip(-4, 4)
    for cost in ("l1", "l2"):
        together = explain(SCFE(cost=cost), net, X, schema)
        assert together.found.sum() > 10
        alone = np.concatenate([explain(SCFE(cost=cost), net, X[i : i + 1], schema).rows for i in range(60)])
        np.testing.assert_allclose(alone, together.rows, atol=1e-9)


def test_whole_numbers_cost_little_more_than_the_best_ones():
    """Two whole numbers: every legal row is tried."""
    schema = Schema(
        (Column("n", "integer", 0, 30, spread=3.0), Column("m", "integer", 0, 30, spread=4.0)), favourable=1
    )
    model = straight(schema, [1.0, 1.7], -9.0)
    X = np.stack(np.meshgrid(np.arange(0, 12), np.arange(0, 12)), axis=-1).reshape(-1, 2).astype(float)
    out = explain(SCFE(), model, X, schema)
    every = np.stack(np.meshgrid(np.arange(31), np.arange(31)), axis=-1).reshape(-1, 2).astype(float)
    valid = every[model.logits(every).argmax(axis=1) == 1]
    denied = model.logits(X).argmax(axis=1) == 0
    scale = np.array([3.0, 4.0])
    best = np.linalg.norm((valid - X[:, None]) / scale, axis=2).min(axis=1)[denied]
    ours = np.linalg.norm((out.rows - X) / scale, axis=1)[denied]
    assert out.found[denied].all()
    assert (ours >= best - 1e-9).all()
    assert np.median(ours / best) < 1.02
    assert (ours / best).max() < 1.25


def test_a_category_changes_where_that_is_cheaper_or_the_only_way():
    schema = Schema((Column("a", low=0, high=10), Column("job", "category", categories=("x", "y", "z"))), favourable=1)
    model = straight(schema, [1.0, 0.0, 2.0, 6.0], -8.0)
    out = explain(SCFE(), model, [[1.0, 0.0], [7.0, 0.0], [5.0, 1.0]], schema)
    assert out.found.all()
    np.testing.assert_allclose(out.rows, [[2, 2], [8, 0], [6, 1]], atol=1e-2)  # 6 + a >= 8; a >= 8; 2 + a >= 8
    only = Schema((Column("a", mutable=False), schema.columns[1]), favourable=1)
    out = explain(SCFE(), straight(only, [1.0, 0.0, 2.0, 6.0], -8.0), [[1.0, 0.0], [3.0, 0.0], [6.5, 0.0]], only)
    assert out.found.tolist() == [False, True, True]
    np.testing.assert_array_equal(out.rows, [[1, 0], [3, 2], [6.5, 2]])


def test_two_categories_change_where_one_is_not_enough():
    two = ("x", "y")
    columns = (Column("a", "category", categories=two), Column("b", "category", categories=two))
    schema = Schema(columns, favourable=1)
    out = explain(SCFE(), straight(schema, [0, 2, 0, 3], -4.0), [[0, 0], [1, 0], [0, 1]], schema)
    np.testing.assert_array_equal(out.rows, np.ones((3, 2)))
    assert out.found.all()


def test_nothing_to_move_or_nowhere_to_go_is_said():
    fixed = Schema((Column("a", mutable=False), Column("b", mutable=False)), favourable=1)
    X = np.array([[1.0, 2.0], [0.0, 0.0]])
    assert not explain(SCFE(), straight(fixed, [1, 1], -9.0), X, fixed).found.any()
    near = Schema((Column("a", low=0, high=1), Column("b", low=0, high=1)), favourable=1)
    out = explain(SCFE(), straight(near, [1, 1], -9.0), X * 0.4, near)
    assert not out.found.any()
    np.testing.assert_array_equal(out.rows, X * 0.4)
    flat = straight(near, [0, 0], -1.0)
    assert not explain(SCFE(), flat, X * 0.4, near).found.any()


def test_who_has_the_favourable_outcome_does_not_ask():
    schema = Schema((Column("a"),), favourable=1)
    out = explain(SCFE(), straight(schema, [1.0], 0.0), [[2.0], [-2.0]], schema)
    assert out.found.tolist() == [False, True]
    np.testing.assert_allclose(out.rows, [[2.0], [0.0]], atol=1e-3)
    assert explain(SCFE(), straight(schema, [1.0], 0.0), np.zeros((0, 1)), schema).rows.shape == (0, 1)


def test_far_boundaries_are_reached_whatever_the_budget_of_adam():
    schema = Schema((Column("a"), Column("b")), favourable=1)
    out = explain(SCFE(steps=1), straight(schema, [3.0, 4.0], -2500.0), [[0.0, 0.0]], schema)
    np.testing.assert_allclose(out.rows, [[300, 400]], rtol=1e-3)


def test_several_classes_with_and_without_a_favourable_one():
    rng = np.random.default_rng(5)
    coef, b, X = rng.normal(size=(4, 3)), rng.normal(size=3), rng.normal(size=(80, 4))
    columns = tuple(Column(f"x{j}") for j in range(4))
    anything = Schema(columns, classes=("0", "1", "2"))
    model = LinearModel(Encoding(anything), coef, b)
    ours, exact = explain(SCFE(), model, X, anything), explain(LinearRecourse(), model, X, anything)
    assert ours.found.all()
    ratio = np.linalg.norm(ours.rows - X, axis=1) / np.linalg.norm(exact.rows - X, axis=1)
    assert np.median(ratio) < 1.01
    assert np.quantile(ratio, 0.95) < 1.05
    hoped = Schema(columns, classes=("0", "1", "2"), favourable=2)
    out = explain(SCFE(), model, X, hoped)
    before = model.logits(X).argmax(axis=1)
    np.testing.assert_array_equal(out.found, before != 2)
    assert (model.logits(out.rows).argmax(axis=1)[out.found] == 2).all()


def test_a_linear_pipeline_is_searched_by_probing():
    from sklearn.linear_model import LogisticRegression

    from jali.models.fitted.estimator import fitted

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)).clip(-4, 4)
    schema = Schema(tuple(Column(c, low=-4, high=4) for c in "abc"), favourable=1)
    estimator = LogisticRegression().fit(X, X @ [1, -2, 0.5] + rng.normal(size=200) > 0)
    out = explain(SCFE(), fitted(estimator, lambda rows: rows, schema, np.arange(2), X), X, schema)
    denied = ~estimator.predict(X)
    assert out.found[denied].all()
    assert estimator.predict(out.rows[denied]).all()


def test_tiles_of_a_wide_network_need_little_memory():
    """The peak of one tile is the peak of any number of them; two are enough to see that nothing is kept."""
    net, schema = wide(23, 1000)
    X = np.random.default_rng(0).normal(size=(512, 23)).clip(-4, 4)
    peaks = []
    for at in (0, 256):
        tracemalloc.start()
        explain(SCFE(steps=30), net, X[at : at + 256], schema)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert max(peaks) < 50e6


@pytest.mark.parametrize("wrong", [{"cost": "l3"}, {"steps": 0}, {"lr": 0.0}, {"probes": -1}])
def test_fields_are_checked(wrong):
    with pytest.raises(JaliError, match="scfe: cost must be"):
        SCFE(**wrong)


# --- several classes, none of them favourable ----------------------------------------------------------------------


def three(seed):
    """A network of two columns with three classes, trained on rings and wedges, and records of all classes."""
    rng = np.random.default_rng(seed)
    schema = Schema((Column("a", low=-4, high=4), Column("b", low=-4, high=4)), ("x", "y", "z"))
    X = rng.normal(size=(600, 2)).clip(-4, 4)
    y = np.where((X**2).sum(axis=1) < 0.7, 2, (X[:, 0] * X[:, 1] > 0).astype(int))
    part = MLP(hidden=(32,), epochs=80, lr=5e-3)
    model = part.fit(Dataset(X, y, schema), np.ones((600, 1), bool), [np.random.default_rng(seed)])[0]
    return model, schema, X[:80]


@pytest.mark.parametrize("seed", [0, 1])
def test_of_several_classes_the_nearest_is_found(seed):
    """Against all points of a fine grid: the class that is nearest to first order is often not the nearest."""
    model, schema, X = three(seed)
    out = explain(SCFE(), model, X, schema)
    axis = np.linspace(-4, 4, 401)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    label = model.logits(grid).argmax(axis=1)
    now = model.logits(X).argmax(axis=1)
    least = np.array([np.linalg.norm(grid[label != c] - x, axis=1).min() for x, c in zip(X, now, strict=True)])
    far = np.linalg.norm(out.rows - X, axis=1)
    assert out.found.all()
    assert (model.logits(out.rows).argmax(axis=1) != now).all()
    assert (far <= 1.05 * least + 0.02).all()


@pytest.mark.parametrize("seed", [0, 2])
def test_a_whole_number_does_not_move_where_another_number_is_enough(seed):
    """Against all whole numbers and a fine grid of the other; a unit of the whole number is a long way."""
    schema = Schema((Column("n", "integer", -4, 4, spread=1.0), Column("b", low=-4, high=4)), favourable=1)
    model, _ = wide(2, 16, seed, schema)
    X = np.stack(np.meshgrid(np.arange(-4, 5), np.linspace(-3.9, 3.9, 14)), axis=-1).reshape(-1, 2)
    out = explain(SCFE(), model, X, schema)
    every = np.stack(np.meshgrid(np.arange(-4, 5), np.linspace(-4, 4, 1601)), axis=-1).reshape(-1, 2)
    valid = every[model.logits(every).argmax(axis=1) == 1]
    denied = model.logits(X).argmax(axis=1) == 0
    best = np.array([np.linalg.norm(valid - x, axis=1).min() for x in X[denied]])
    ours = np.linalg.norm(out.rows - X, axis=1)[denied]
    assert out.found[denied].all()
    assert (out.rows[:, 0] == np.round(out.rows[:, 0])).all()
    assert np.mean(ours <= 1.02 * best + 0.01) > 0.97
    assert (ours <= 1.6 * best + 0.02).all()
