from __future__ import annotations

import numpy as np
import pytest

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.protocols import Differentiable, Linear
from jali.core.values import Column, Schema
from jali.models.fitted.linear import LinearEnsemble, LinearModel, joined

ENCODING = Encoding(
    Schema((Column("age", centre=40, spread=10), Column("sex", "category", 0, 1, categories=("f", "m"))))
)
COEF = np.array([[0.0, 2.0], [0.0, 1.0], [0.0, -1.0]])


def test_logits_by_hand():
    model = LinearModel(ENCODING, COEF, np.array([0.0, 0.5]))
    np.testing.assert_allclose(model.logits(np.array([[50.0, 0.0], [40.0, 1.0]])), [[0, 3.5], [0, -0.5]])


def test_the_gradient_is_the_column_asked_for():
    model = LinearModel(ENCODING, COEF, np.zeros(2))
    np.testing.assert_array_equal(model.gradient(np.zeros((2, 3)), np.array([1, 0])), [[2, 1, -1], [0, 0, 0]])


def test_the_margin_is_over_the_best_other_class():
    coef = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0], [0.0, 0.0, 0.0]])
    model = LinearModel(ENCODING, coef, np.array([0.0, 0.0, 0.5]))
    Z = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])  # scores (1, 2, 0.5), (0, 1, 3.5)
    value, slope = model.margin(Z, np.array([0, 2]))
    np.testing.assert_array_equal(value, [-1.0, 2.5])
    np.testing.assert_array_equal(slope, [[-1.0, -1.0, 0.0], [-2.0, 2.0, 0.0]])


def test_capabilities_and_joining():
    model = LinearModel(ENCODING, COEF, np.zeros(2))
    assert isinstance(model, Linear)
    assert isinstance(model, Differentiable)
    both = joined([model, LinearModel(ENCODING, -COEF, np.ones(2))])
    assert len(both) == 2
    np.testing.assert_array_equal(both[1].coef, -COEF)
    assert both.logits(np.array([[50.0, 0.0]])).shape == (1, 2, 2)
    assert [m.intercept[0] for m in both] == [0.0, 1.0]


def test_shapes_are_checked():
    with pytest.raises(JaliError, match="coef must have shape"):
        LinearEnsemble(ENCODING, np.zeros((2, 4, 2)), np.zeros((2, 2)))
