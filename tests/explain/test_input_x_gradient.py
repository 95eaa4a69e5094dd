from __future__ import annotations

import captum.attr
import numpy as np
import pytest

from jali.core.encoding import Encoding
from jali.core.values import Column, Dataset, Schema
from jali.explain.input_x_gradient import InputXGradient
from jali.models.fitted.linear import LinearModel
from jali.models.mlp import MLP
from tests.explain import networks
from tests.explaining import explained

SCHEMA = Schema((Column("a"), Column("b"), Column("c")))


def explain(model, X):
    return explained(InputXGradient(), model, X, SCHEMA, None, np.random.default_rng(0)).value


def test_linear_attributions_add_up_to_the_score_without_the_intercept():
    rng = np.random.default_rng(0)
    w = rng.normal(size=3)
    model = LinearModel(Encoding(SCHEMA), np.stack([-w / 2, w / 2], axis=1), np.array([0.3, -0.3]))
    X = rng.normal(size=(40, 3))
    chosen = model.logits(X).max(axis=1)
    offset = np.where(model.logits(X).argmax(axis=1) == 1, -0.3, 0.3)
    np.testing.assert_allclose(explain(model, X).sum(axis=1), chosen - offset)


def test_network_attributions_agree_with_finite_differences():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    data = Dataset(X, (X[:, 0] * X[:, 1] > 0).astype(int), SCHEMA)
    model = MLP(hidden=(8,), epochs=3).fit(data, np.ones((60, 1), bool), [np.random.default_rng(0)])[0]
    top = model.logits(X).argmax(axis=1)
    slope = np.empty_like(X)
    for j in range(3):
        step = np.zeros(3)
        step[j] = 1e-2
        pick = np.arange(60)
        slope[:, j] = (model.logits(X + step)[pick, top] - model.logits(X - step)[pick, top]) / 2e-2
    near = np.abs(explain(model, X) - X * slope) < 2e-2
    assert near.mean() > 0.95  # a kink of a unit between the two points is rare


@pytest.mark.parametrize("hidden", [(50,), (40, 20)])
def test_it_equals_captum(hidden):
    net, model = networks.twins(hidden)
    X = networks.rows()
    expected = networks.captum(captum.attr.InputXGradient, model, X)
    for ours in (net, model):
        found = explained(InputXGradient(), ours, X, networks.SCHEMA, None, np.random.default_rng(0)).value
        np.testing.assert_allclose(found, expected, atol=1e-5)
