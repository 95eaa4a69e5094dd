from __future__ import annotations

import numpy as np
import pytest

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Column, Schema
from jali.explain import kernel_shap
from jali.explain._attribution.slopes import public_rows
from jali.explain.kernel_shap import KernelShap, _coalitions
from jali.explain.native.placing import placed
from jali.models.fitted.linear import LinearModel
from tests.explain.networks import SCHEMA, rows, twins
from tests.explain.shapley import replaced, shapley
from tests.explaining import explained


def explain(model, X, schema=SCHEMA, seed=0, **fields):
    return explained(KernelShap(**fields), model, X, schema, None, np.random.default_rng(seed)).value


def exact(model, X, background):
    top = model.logits(X).argmax(axis=1)
    game = replaced(lambda Q: model.logits(Q)[np.arange(len(X)), top], X, public_rows(SCHEMA, background))
    return placed(shapley(game, X.shape[1]), X, SCHEMA)


def test_it_is_exact_where_the_budget_covers_all_coalitions():
    net, _ = twins()
    X = rows(30)
    np.testing.assert_allclose(explain(net, X, background=3), exact(net, X, 3), atol=1e-5)


def test_a_smaller_budget_comes_close_and_still_adds_up():
    net, _ = twins()
    X = rows(30)
    truth, top = exact(net, X, 2), net.logits(X).argmax(axis=1)
    off = {b: np.abs(explain(net, X, budget=b, background=2) - truth).max() for b in (0, 60)}
    assert off[60] < off[0] < 0.5 * np.abs(truth).max()
    base = net.logits(public_rows(SCHEMA, 2)).mean(axis=0)[top]
    for budget in (0, 1, 60):
        total = explain(net, X, budget=budget, background=2).sum(axis=1)
        np.testing.assert_allclose(total, net.logits(X)[np.arange(30), top] - base, atol=1e-5)


def test_any_budget_is_exact_for_a_linear_model():
    schema = Schema(tuple(Column(f"x{j}", centre=j, spread=1 + j) for j in range(15)))
    w = np.random.default_rng(0).normal(size=15)
    model = LinearModel(Encoding(schema), np.stack([-w, w], axis=1), np.array([0.0, 0.3]))
    X = np.random.default_rng(1).normal(size=(20, 15)) * 9
    Z, base = Encoding(schema).encode(X), Encoding(schema).encode(public_rows(schema, 4)).mean(axis=0)
    side = np.where(model.logits(X).argmax(axis=1) == 1, 1.0, -1.0)
    for budget in (0, 3, 256):
        np.testing.assert_allclose(explain(model, X, schema, budget=budget), side[:, None] * w * (Z - base), atol=1e-8)


@pytest.mark.parametrize("width", [2, 3, 8, 9, 20])
def test_coalitions_keep_their_budget_and_the_weight_of_every_size(width):
    sets, weight = _coalitions(width, 256, np.random.default_rng(0))
    assert len(sets) <= 2 * width + 256
    size = sets.sum(axis=1)
    assert size.min() == 1
    assert size.max() == width - 1
    sizes = np.arange(1, width)
    mass = (width - 1) / (sizes * (width - sizes))
    assert weight.sum() == pytest.approx(mass.sum())
    for k in (1, width - 1):
        assert weight[size == k].sum() == pytest.approx(mass[k - 1])
    np.testing.assert_allclose(weight @ sets, weight @ ~sets)  # a coalition and its complement


def test_a_single_column_gets_everything():
    schema = Schema((Column("x"),))
    model = LinearModel(Encoding(schema), np.array([[0.0, 2.0]]), np.zeros(2))
    np.testing.assert_allclose(explain(model, np.array([[3.0]]), schema, background=1), [[6.0]])


def test_records_may_come_in_any_blocks(monkeypatch):
    net, _ = twins()
    X = rows(30)
    whole = explain(net, X)
    monkeypatch.setattr(kernel_shap, "BATCH", 1)
    np.testing.assert_allclose(explain(net, X), whole, atol=1e-5)


@pytest.mark.parametrize("batch", [1, 3_000, 2**18])
def test_a_model_scores_as_many_rows_at_once_as_stay_in_the_cache(monkeypatch, batch):
    monkeypatch.setattr(kernel_shap, "BATCH", batch)
    weights = np.random.default_rng(0).normal(size=(len(Encoding(SCHEMA).source), 2))
    model = LinearModel(Encoding(SCHEMA), weights, np.zeros(2))
    X = rows(30)
    calls = []

    class Counting:
        def logits(self, X):
            calls.append(len(X))
            return model.logits(X)

    found = explain(Counting(), X, budget=20)
    np.testing.assert_array_equal(found, explain(model, X, budget=20))
    sets = len(_coalitions(X.shape[1], 20, np.random.default_rng(0))[0])
    each = max(1, batch // (sets * max(2 * X.shape[1], len(weights))))
    assert max(calls[2:]) == min(each, 30) * sets  # the first two calls are the background and the records themselves
    assert sum(calls[2:]) == 30 * sets * KernelShap().background


def test_bad_input_is_refused(monkeypatch):
    for fields in ({"budget": -1}, {"background": 0}):
        with pytest.raises(JaliError, match="kernel_shap: budget must be at least 0 and background at least 1"):
            KernelShap(**fields)
    monkeypatch.setattr(kernel_shap, "MOST", 5)
    with pytest.raises(JaliError, match="at most 5 columns, not 7"):
        explain(twins()[0], rows())
