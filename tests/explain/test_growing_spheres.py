from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pytest

from jali.core import registry
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema
from jali.data.tables.frames import dataset
from jali.explain import growing_spheres
from jali.explain.growing_spheres import GrowingSpheres
from jali.explain.linear_recourse import LinearRecourse
from jali.models.fitted.linear import LinearModel
from jali.models.given import Given
from tests.explaining import explained


@dataclass
class Rule:
    """A model that says yes where a function of raw rows is positive, and remembers how much it was asked."""

    score: object
    asked: list[int] = field(default_factory=list)

    def logits(self, X):
        self.asked.append(len(X))
        s = self.score(X)
        return np.stack([np.zeros(len(s)), np.where(s > 0, 1.0, -1.0)], axis=1)


def plain(d: int, **column) -> Schema:
    return Schema(tuple(Column(f"x{j}", **column) for j in range(d)), favourable=1)


def linear(seed: int, d: int = 10):
    rng = np.random.default_rng(seed)
    schema, w = plain(d), rng.normal(size=d)
    b = -np.linalg.norm(w)
    model = LinearModel(Encoding(schema), np.stack([-w / 2, w / 2], axis=1), np.array([-b / 2, b / 2]))
    return model, rng.normal(size=(200, d)), schema


def explain(part, model, X, schema, seed=0):
    return explained(part, model, np.asarray(X, float), schema, None, np.random.default_rng(seed))


def distance(out, X, norm=2):
    return np.linalg.norm(out.rows - X, ord=norm, axis=1)[out.found]


def excess(part, seed: int) -> float:
    """Median distance over the closed form |s - f| / ||w||, minus one."""
    model, X, schema = linear(seed)
    out, exact = explain(part, model, X, schema, seed), explain(LinearRecourse(), model, X, schema)
    assert (out.found == exact.found).all()
    ratio = distance(out, X) / distance(exact, X)
    assert ratio.min() > 1 - 1e-9
    return float(np.median(ratio)) - 1


@pytest.mark.parametrize("seed", range(3))
def test_distance_against_the_closed_form_in_ten_dimensions(seed):
    assert excess(GrowingSpheres(finish="plain"), seed) < 0.30
    assert excess(GrowingSpheres(samples=200, finish="refined"), seed) < 0.10


@pytest.mark.parametrize(("finish", "tolerance"), [("plain", 0.15), ("refined", 0.01)])
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_brute_force_finds_nothing_much_closer(norm, finish, tolerance):
    """Valid are a disc and a half-plane; a grid of step 0.01 is searched for the nearest valid point."""
    schema = plain(2, low=-4.0, high=4.0)
    model = Rule(lambda X: np.maximum(0.8 - np.hypot(X[:, 0] - 1.5, X[:, 1]), X[:, 1] - 0.3 * X[:, 0] - 2))
    X = np.random.default_rng(0).uniform(-2, 0.5, (40, 2))
    out = explain(GrowingSpheres(norm, finish=finish), model, X, schema)
    assert out.found.all()
    axis = np.linspace(-4, 4, 801)
    grid = np.stack(np.meshgrid(axis, axis), axis=2).reshape(-1, 2)
    grid = grid[model.score(grid) > 0]
    order = int(norm[1])
    nearest = np.array([np.linalg.norm(grid - x, ord=order, axis=1).min() for x in X])
    assert (distance(out, X, order) <= nearest * (1 + tolerance)).all()


def test_whole_numbers_and_categories_against_all_legal_rows():
    columns = (
        Column("n", "integer", 0, 8, spread=2.0),
        Column("k", "integer", 0, 8, spread=3.0),
        Column("c", "category", categories=("a", "b", "c")),
        Column("fixed", "integer", 0, 1, mutable=False),
    )
    schema = Schema(columns, favourable=1)
    model = Rule(lambda X: X[:, 0] + 2 * X[:, 1] + 4 * (X[:, 2] == 2) - 3 * X[:, 3] - 13.5)
    X = np.array([[a, b, c, f] for a in (0, 3, 5) for b in (1, 4) for c in (0, 1) for f in (0, 1)], float)
    out = explain(GrowingSpheres(finish="plain"), model, X, schema)
    every = (
        np.stack(np.meshgrid(np.arange(9), np.arange(9), np.arange(3), [0, 1]), axis=-1).reshape(-1, 4).astype(float)
    )
    every, encode = every[model.score(every) > 0], Encoding(schema).encode
    best = [np.linalg.norm(encode(every[every[:, 3] == x[3]]) - encode(x[None]), axis=1).min() for x in X]
    asked = model.score(X) < 0
    assert (out.found == asked).all()
    reached = np.linalg.norm(encode(out.rows) - encode(X), axis=1)
    np.testing.assert_allclose(reached[asked], np.array(best)[asked], rtol=1e-9)


def test_a_record_beside_the_boundary_is_met_by_halving():
    model = Rule(lambda X: X[:, 0] - 1e-6)
    out = explain(GrowingSpheres(finish="plain"), model, np.zeros((1, 3)), plain(3))
    assert 1e-6 < distance(out, np.zeros((1, 3)))[0] < 1.5e-6


def test_far_outcomes_are_reached_within_the_budget():
    model = Rule(lambda X: X[:, 0] - 2000.0)
    out = explain(GrowingSpheres(samples=100, finish="refined"), model, np.zeros((1, 2)), plain(2))
    assert distance(out, np.zeros((1, 2)))[0] == pytest.approx(2000.0, rel=0.02)


def test_sparsifying_changes_fewer_columns_and_costs_no_more():
    model, X, schema = linear(0)
    full, sparse = (explain(GrowingSpheres(finish=f), model, X, schema) for f in ("plain", "sparse"))
    assert (sparse.found == full.found).all()
    assert (distance(sparse, X) <= distance(full, X)).all()
    assert (distance(sparse, X, 0) < distance(full, X, 0)).mean() > 0.9
    assert (model.logits(sparse.rows).argmax(axis=1)[sparse.found] == 1).all()


def test_columns_the_model_ignores_are_reset():
    model = Rule(lambda X: X[:, 3] - 1.0)
    X = np.zeros((1, 6))
    out = explain(GrowingSpheres(), model, X, plain(6))
    assert np.flatnonzero(out.rows[0]).tolist() == [3]


def test_a_forest():
    model, X, schema = linear(0, 5)
    data = Dataset(X, model.logits(X).argmax(axis=1), schema)
    trainer = registry.build(
        "model", 'sklearn(estimator="sklearn.ensemble:RandomForestClassifier", params="n_estimators=10, max_depth=5")'
    )
    forest = trainer.fit(data, np.ones((len(X), 1), bool), [np.random.default_rng(0)])[0]
    out = explain(GrowingSpheres(samples=100), forest, X, schema)
    before = forest.logits(X).argmax(axis=1)
    assert (out.found == (before == 0)).all()
    assert (forest.logits(out.rows).argmax(axis=1)[out.found] == 1).all()


def test_a_pipeline_of_the_users_own():
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.integers(18, 80, 200), "job": rng.choice(["clerk", "nurse", "smith"], 200)})
    table["paid"] = np.where(table.age / 20 + (table.job == "nurse") > 2.8, "yes", "no")
    words = ColumnTransformer([("words", OneHotEncoder(), ["job"])], remainder="passthrough")
    fitted = make_pipeline(words, GradientBoostingClassifier(n_estimators=10)).fit(table[["age", "job"]], table.paid)
    data = dataset(table, "paid", favourable="yes")
    model = Given(fitted).existing(data)
    out = explain(GrowingSpheres(samples=50), model, data.X, data.schema)
    denied = model.logits(data.X).argmax(axis=1) != data.schema.favourable
    assert (out.found == denied).all()
    assert (model.logits(out.rows).argmax(axis=1)[denied] == data.schema.favourable).all()


def test_nothing_within_the_budget_is_said_not_forced():
    X = np.zeros((3, 2))
    never = Rule(lambda X: np.full(len(X), -1.0))
    for model in (never, Rule(lambda X: X[:, 0] - 5.0)):
        out = explain(GrowingSpheres(samples=20, shells=5, finish="refined sparse"), model, X, plain(2))
        assert not out.found.any()
        np.testing.assert_array_equal(out.rows, X)
    assert sum(never.asked) == 3 * 20 * (1 + 5) + 2 * 3  # the first ball, five shells, before and after


def test_a_long_budget_ends_and_stays_finite():
    out = explain(GrowingSpheres(samples=2, shells=2000), Rule(lambda X: X[:, 0] * 0 - 1), np.zeros((1, 2)), plain(2))
    assert not out.found.any()
    assert np.isfinite(out.rows).all()


def test_all_columns_immutable_asks_for_nothing():
    model = Rule(lambda X: X[:, 0] - 3.0)
    out = explain(GrowingSpheres(), model, [[1.0]], plain(1, mutable=False))
    assert not out.found.any()
    assert model.asked == [1, 1]


def test_who_has_the_outcome_already_is_left_alone():
    model = Rule(lambda X: X[:, 0] - 1.0)
    out = explain(GrowingSpheres(samples=50), model, [[2.0, 0.0], [0.0, 0.0]], plain(2))
    assert out.found.tolist() == [False, True]
    np.testing.assert_array_equal(out.rows[0], [2.0, 0.0])


def test_without_a_favourable_class_everybody_gets_another_one():
    rng = np.random.default_rng(1)
    schema = Schema(tuple(Column(f"x{j}") for j in range(3)), classes=("0", "1", "2"))
    model = LinearModel(Encoding(schema), rng.normal(size=(3, 3)), rng.normal(size=3))
    X = rng.normal(size=(50, 3))
    out, exact = (
        explain(GrowingSpheres(samples=200, finish="refined"), model, X, schema),
        explain(LinearRecourse(), model, X, schema),
    )
    assert out.found.all()
    assert (model.logits(out.rows).argmax(axis=1) != model.logits(X).argmax(axis=1)).all()
    np.testing.assert_allclose(distance(out, X), distance(exact, X), rtol=0.05)


@pytest.mark.parametrize("finish", ["sparse", "refined sparse"])
def test_a_row_alone_gets_the_answer_it_gets_in_company(finish):
    model, X, schema = linear(2, 4)
    part = GrowingSpheres(samples=100, finish=finish)
    together = explain(part, model, X[:30], schema)
    np.testing.assert_array_equal(explain(part, model, X[:30], schema).rows, together.rows)
    for i in range(5):
        np.testing.assert_allclose(explain(part, model, X[i : i + 1], schema).rows[0], together.rows[i], atol=1e-9)
    assert (explain(part, model, X[:30], schema, seed=1).rows != together.rows).any()


def test_memory_is_bounded_and_shells_are_asked_together(monkeypatch):
    monkeypatch.setattr(growing_spheres, "CHUNK", 1000)
    model = Rule(lambda X: X[:, 0] - 0.35)
    explain(GrowingSpheres(samples=100, finish="plain"), model, np.zeros((25, 2)), plain(2))
    assert model.asked[1:4] == [1000, 1000, 500]
    assert max(model.asked) == 1000


def test_nothing_is_asked_about_that_could_not_be_nearer():
    """Once a row is found, every row asked about lies nearer to the record than the nearest valid one so far."""
    best, late = np.inf, 0

    def score(X):
        nonlocal best, late
        far = np.linalg.norm(X, axis=1)
        assert far.max() <= best + 1e-12
        late += len(X) * np.isfinite(best)
        best = min(best, far[X[:, 0] > 1].min(initial=np.inf))
        return X[:, 0] - 1.0

    out = explain(GrowingSpheres(samples=300, finish="refined sparse"), Rule(score), np.zeros((1, 4)), plain(4))
    assert distance(out, np.zeros((1, 4)))[0] == pytest.approx(best)
    assert 0 < late < 0.5 * 300 * growing_spheres.ROUNDS


def test_an_empty_budget_is_refused():
    for wrong in ({"samples": 0}, {"shells": 0}, {"step": 0.0}, {"step": float("inf")}):
        with pytest.raises(JaliError, match="growing_spheres"):
            GrowingSpheres(**wrong)
