from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Column, Schema
from jali.explain._attribution import slopes
from jali.explain.lime import Lime, _Around, _draws, _slopes
from jali.models.fitted.linear import LinearModel
from tests.explain.networks import SCHEMA, rows, twins
from tests.explaining import explained


def explain(model, X, schema=SCHEMA, seed=0, **fields):
    return explained(Lime(**fields), model, X, schema, None, np.random.default_rng(seed)).value


def linear(schema):
    width = len(Encoding(schema).source)
    coef = np.random.default_rng(0).normal(size=(width, len(schema.classes)))
    return LinearModel(Encoding(schema), coef, np.zeros(len(schema.classes)))


def test_it_recovers_the_weights_of_a_linear_model():
    model, X = linear(SCHEMA), rows()
    weights = model.coef.T[model.logits(X).argmax(axis=1)]
    found = explain(model, X, ridge=1e-8)
    np.testing.assert_allclose(found[:, :6], weights[:, :6], atol=1e-6)
    among = [w - w.mean(axis=1, keepdims=True) for w in (found[:, 6:], weights[:, 6:])]
    np.testing.assert_allclose(among[0], among[1], atol=1e-6)
    np.testing.assert_allclose(explain(model, X)[:, :6], weights[:, :6], atol=0.05)


@pytest.mark.parametrize("samples", [8, 200])
def test_each_record_gets_the_ridge_regression_of_scikit_learn(samples):
    rng = np.random.default_rng(0)
    moves, value, near = rng.normal(size=(5, samples, 12)), rng.normal(size=(5, samples)), rng.random((5, samples))
    found = _slopes(moves, value, near, 0.7)
    for i in range(5):
        alone = Ridge(alpha=0.7).fit(moves[i], value[i], sample_weight=near[i]).coef_
        np.testing.assert_allclose(found[i], alone, atol=1e-9)


def test_a_whole_explanation_by_hand():
    net, _ = twins()
    X, encoding = rows(4), Encoding(SCHEMA)
    found, top = explain(net, X, seed=7, samples=60), net.logits(X).argmax(axis=1)
    changed, moves = _Around(encoding, *_draws(SCHEMA, 60, np.random.default_rng(7))).of(X)
    for i in range(4):
        Z, z = encoding.encode(changed[i]), encoding.encode(X[i : i + 1])
        np.testing.assert_allclose(moves[i], Z - z)
        near = np.exp(-((Z - z) ** 2).sum(axis=1) / (2 * 0.75**2 * 7))
        alone = Ridge(alpha=1.0).fit(Z, net.logits(changed[i])[:, top[i]], sample_weight=near).coef_
        np.testing.assert_allclose(found[i], alone, atol=1e-4)


def test_only_legal_rows_are_asked_about():
    columns = (Column("n", "integer", 0, 5, 2, 2), Column("c", "category", categories=("a", "b")))
    schema, asked = Schema(columns), []

    class Listening:
        def logits(self, X):
            asked.append(X)
            return np.stack([X[:, 0], -X[:, 0]], axis=1)

    explain(Listening(), np.array([[1.0, 0.0], [5.0, 1.0]]), schema)
    X = np.concatenate(asked)
    assert set(X[:, 0]) == set(range(6))
    assert set(X[:, 1]) == {0.0, 1.0}


def test_records_may_come_in_any_blocks(monkeypatch):
    net, _ = twins()
    X = rows(30)
    whole = explain(net, X)
    monkeypatch.setattr(slopes, "CELLS", 1)
    np.testing.assert_allclose(explain(net, X), whole, atol=1e-4)


@pytest.mark.parametrize("fields", [{"samples": 1}, {"width": 0.0}, {"ridge": 0.0}])
def test_bad_fields_are_refused(fields):
    with pytest.raises(JaliError, match="lime: samples must be at least 2, width and ridge above 0"):
        Lime(**fields)
