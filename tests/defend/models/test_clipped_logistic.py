from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from jali.core import registry
from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema
from jali.defend._dp.stability import StableModel, stable
from jali.defend.models.clipped_logistic import ClippedLogistic
from jali.models.logistic import Logistic
from tests.explaining import explained

LINE = Schema((Column("x", low=-1, high=1), Column("z", low=-1, high=1)))


def fitted(part, X, y):
    return part.fit(Dataset(X, y, LINE), np.ones((len(X), 1), bool), [np.random.default_rng(0)])[0]


def weights(model):
    """Weights and intercept (3,); bounds of one make the frame's space model space."""
    return np.r_[model.coef[:, 1] - model.coef[:, 0], model.intercept[1] - model.intercept[0]]


def test_every_weight_is_penalised_the_intercept_too():
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1, 1, (50, 2)), np.ones(50, int)
    w = weights(fitted(ClippedLogistic(bound=2.0, C=0.3), X, y))
    A = np.column_stack([X, np.ones(50)])
    np.testing.assert_allclose(0.3 * A.T @ (expit(A @ w) - y) + w, 0.0, atol=1e-7)


def test_long_rows_are_cut_in_training():
    X, y = np.array([[1.0, 1.0], [-1.0, 0.5]]), [1, 0]
    length = np.linalg.norm(X, axis=1, keepdims=True)
    short = fitted(ClippedLogistic(bound=0.5), X, y)
    np.testing.assert_allclose(
        weights(short), weights(fitted(ClippedLogistic(bound=5.0), X / length / 2, y)), atol=1e-9
    )


@pytest.mark.parametrize("C", [0.05, 1.0, 10.0])
def test_no_record_moves_weights_scores_or_probabilities_further_than_said(C):
    """Brute force: every record of small tables replaced, by corners of the box above all, or taken out."""
    rng, part = np.random.default_rng(0), ClippedLogistic(bound=np.sqrt(2), C=C)
    corners = np.array([[a, b] for a in (-1.0, 1.0) for b in (-1.0, 1.0)])
    worst = np.zeros(4)
    for n in (2, 2, 3, 3, 6, 20):
        X, y = rng.choice([-1.0, 1.0], (n, 2)), rng.integers(0, 2, n)
        model = fitted(part, X, y)
        w, p = weights(model), expit(corners @ weights(model)[:2] + weights(model)[2])
        for x in corners:
            for label in (0, 1):
                other = weights(fitted(part, np.vstack([x, X[1:]]), np.r_[label, y[1:]]))
                q = expit(corners @ other[:2] + other[2])
                worst = np.maximum(worst, [np.linalg.norm(w - other), np.abs(p - q).max(), 0, 0])
        less = weights(fitted(part, X[1:], y[1:]))
        fewer = expit(corners @ less[:2] + less[2])
        worst = np.maximum(worst, [0, 0, np.linalg.norm(w - less), np.abs(p - fewer).max()])
    R = np.sqrt(3)
    limits = np.array([2 * C * R, C * R**2 / 2, C * R, C * R**2 / 4])
    assert (worst <= limits).all()
    said = fitted(part, X, y).stability
    assert said.weights == pytest.approx(limits[0])
    np.testing.assert_allclose(said.probability(corners), min(1.0, limits[1]))
    np.testing.assert_allclose(said.score(corners), 4 * limits[1])
    if C < 0.1:  # not far from tight where the penalty rules
        assert (worst / limits > 0.2).all()


def test_a_longer_query_is_allowed_to_move_more():
    said = fitted(ClippedLogistic(bound=0.5, C=0.1), np.eye(2), [0, 1]).stability
    near, far = said.score(np.array([[0.1, 0.0], [1.0, 1.0]]))
    assert far / near == pytest.approx(np.sqrt(3 / 1.01))


def test_the_model_is_an_ordinary_linear_one_that_says_how_stable_it_is():
    model = fitted(ClippedLogistic(bound=1.0), np.eye(2), [0, 1])
    assert isinstance(model, StableModel)
    assert stable("x", model) is model
    assert explained(registry.build("explain", "linear_recourse"), model, np.eye(2), LINE, None, None).found.all()


def test_other_models_are_refused_by_name():
    data = Dataset(np.eye(2), [0, 1], LINE)
    plain = Logistic().fit(data, np.ones((2, 1), bool), [np.random.default_rng(0)])[0]
    with pytest.raises(JaliError, match=r"x needs a model .* LinearModel has none: .* clipped_logistic"):
        stable("x", plain)


def test_bad_input_is_one_sentence():
    assert registry.spec(registry.build("model", "clipped_logistic(2.0)")) == "clipped_logistic(bound=2.0)"
    with pytest.raises(JaliError, match="clipped_logistic needs bound"):
        ClippedLogistic()
    with pytest.raises(JaliError, match="C must be positive"):
        ClippedLogistic(bound=1.0, C=0.0)
