from __future__ import annotations

import captum.attr
import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.explain.integrated_gradients import IntegratedGradients
from jali.models.fitted.linear import LinearModel
from tests.explain.networks import SCHEMA, rows, twins
from tests.explain.networks import captum as reference
from tests.explaining import explained


def explain(model, X, **fields):
    return explained(IntegratedGradients(**fields), model, X, SCHEMA, None, np.random.default_rng(0)).value


@pytest.mark.parametrize("hidden", [(50,), (40, 20)])
@pytest.mark.parametrize("baseline", [0.0, -1.5])
def test_it_equals_captum(hidden, baseline):
    net, model = twins(hidden)
    X = rows()
    expected = reference(captum.attr.IntegratedGradients, model, X, baselines=baseline, n_steps=25)
    np.testing.assert_allclose(explain(net, X, baseline=baseline), expected, atol=1e-5)
    np.testing.assert_allclose(explain(model, X, baseline=baseline), expected, atol=1e-5)


def rise(net, X):
    """How far the score of the predicted class lies above that of the centre."""
    top = net.logits(X).argmax(axis=1)
    start = net._scores(np.zeros((1, 9), dtype=np.float32))[0]
    return net.logits(X)[np.arange(len(X)), top] - start[top]


@pytest.mark.parametrize("steps", [5, 25, 200])
def test_attributions_add_up_to_the_rise_of_the_score_within_the_width_of_a_step(steps):
    """Each unit turns once on the way, and a turn is missed by the weight of one point at most."""
    net, _ = twins((50,))
    X = rows()
    widest = np.polynomial.legendre.leggauss(steps)[1].max() / 2
    per_unit = np.abs(net.encoding.encode(X) @ net.weights[0]) * np.abs(net.weights[1].T)[net.logits(X).argmax(axis=1)]
    off = np.abs(explain(net, X, steps=steps).sum(axis=1) - rise(net, X))
    assert (off <= widest * per_unit.sum(axis=1) + 1e-6).all()


def test_more_steps_add_up_better():
    net, _ = twins((40, 20))
    X = rows()
    off = [np.abs(explain(net, X, steps=steps).sum(axis=1) - rise(net, X)).max() for steps in (5, 25, 400)]
    assert off[0] > off[1] > off[2]
    assert off[2] < 0.01 * np.abs(rise(net, X)).mean()


def test_one_step_is_enough_for_a_linear_model():
    net, _ = twins()
    coef = np.random.default_rng(0).normal(size=(9, 3))
    model = LinearModel(net.encoding, coef, np.zeros(3))
    X = rows()
    closed = (net.encoding.encode(X) - 0.5) * coef.T[model.logits(X).argmax(axis=1)]
    for steps in (1, 25):
        np.testing.assert_allclose(explain(model, X, steps=steps, baseline=0.5), closed, atol=1e-12)


@pytest.mark.parametrize("fields", [{"steps": 0}, {"baseline": float("nan")}])
def test_bad_fields_are_refused(fields):
    with pytest.raises(JaliError, match="integrated_gradients: steps must be at least 1 and baseline finite"):
        IntegratedGradients(**fields)
