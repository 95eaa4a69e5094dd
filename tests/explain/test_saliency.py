from __future__ import annotations

import captum.attr
import numpy as np
import pytest

from jali.explain.saliency import Saliency
from jali.models.fitted.linear import LinearModel
from tests.explain.networks import SCHEMA, rows, twins
from tests.explain.networks import captum as reference
from tests.explaining import explained


def explain(model, X):
    return explained(Saliency(), model, X, SCHEMA, None, np.random.default_rng(0)).value


@pytest.mark.parametrize("hidden", [(), (50,), (40, 20)])
def test_it_equals_captum(hidden):
    net, model = twins(hidden)
    X = rows()
    expected = reference(captum.attr.Saliency, model, X)
    np.testing.assert_allclose(explain(net, X), expected, atol=1e-5)
    np.testing.assert_allclose(explain(model, X), expected, atol=1e-5)


def test_all_who_are_told_the_same_by_a_linear_model_get_its_absolute_weights():
    net, _ = twins()
    coef = np.random.default_rng(0).normal(size=(9, 3))
    model = LinearModel(net.encoding, coef, np.zeros(3))
    X = rows()
    np.testing.assert_array_equal(explain(model, X), np.abs(coef.T)[model.logits(X).argmax(axis=1)])
