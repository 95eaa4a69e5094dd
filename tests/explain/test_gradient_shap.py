from __future__ import annotations

import captum.attr
import numpy as np
import pytest
import torch

from jali.core.errors import JaliError
from jali.explain.gradient_shap import GradientShap
from jali.models.fitted.linear import LinearModel
from tests.explain.networks import SCHEMA, rows, twins
from tests.explain.networks import captum as reference
from tests.explaining import explained


def explain(model, X, seed=0, **fields):
    return explained(GradientShap(**fields), model, X, SCHEMA, None, np.random.default_rng(seed)).value


@pytest.mark.parametrize("hidden", [(50,), (40, 20)])
def test_it_equals_captum_with_the_same_draws(hidden, monkeypatch):
    net, model = twins(hidden)
    X, rng, expected = rows(), np.random.default_rng(3), []
    for _ in range(5):
        start, part = rng.normal(0.0, 0.5, 9), rng.random()
        monkeypatch.setattr(np.random, "uniform", lambda low, high, n, part=part: np.full(n, part))
        baselines = torch.tensor(start[None], dtype=torch.float32)
        expected.append(reference(captum.attr.GradientShap, model, X, baselines=baselines, n_samples=1))
    for ours in (net, model):
        np.testing.assert_allclose(explain(ours, X, 3, spread=0.5), np.mean(expected, axis=0), atol=1e-5)


def test_many_samples_around_the_centre_are_integrated_gradients():
    net, model = twins()
    X = rows(20)
    path = reference(captum.attr.IntegratedGradients, model, X, n_steps=50)
    np.testing.assert_allclose(explain(net, X, samples=4000, spread=0.0), path, atol=0.05)


def test_a_linear_model_in_closed_form():
    net, _ = twins()
    coef = np.random.default_rng(0).normal(size=(9, 3))
    model, X, rng = LinearModel(net.encoding, coef, np.zeros(3)), rows(), np.random.default_rng(5)
    starts = [(rng.normal(0.0, 2.0, 9), rng.random())[0] for _ in range(7)]
    closed = (net.encoding.encode(X) - np.mean(starts, axis=0)) * coef.T[model.logits(X).argmax(axis=1)]
    np.testing.assert_allclose(explain(model, X, 5, samples=7, spread=2.0), closed, atol=1e-12)


@pytest.mark.parametrize("fields", [{"samples": 0}, {"spread": -1.0}])
def test_bad_fields_are_refused(fields):
    with pytest.raises(JaliError, match="gradient_shap: samples must be at least 1 and spread at least 0"):
        GradientShap(**fields)
