"""Logistic regression against scikit-learn, the optimality conditions, and itself in other blocks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.linear_model import LogisticRegression

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema
from jali.models import logistic
from jali.models.logistic import Logistic


def table(n, width, classes=2, seed=0, bias=0.0, kinds=0):
    """A table with `width` numbers, `kinds` three-way categories, and classes that depend on both."""
    rng = np.random.default_rng(seed)
    numbers, codes = rng.normal(2.0, 3.0, (n, width)), rng.integers(0, 3, (n, kinds))
    columns = [Column(f"x{j}", centre=2.0, spread=3.0) for j in range(width)]
    columns += [Column(f"c{j}", "category", 0, 2, categories=("a", "b", "c")) for j in range(kinds)]
    X = np.hstack([numbers, codes])
    schema = Schema(tuple(columns), tuple(str(k) for k in range(classes)))
    Z = Encoding(schema).encode(X)
    scores = Z @ rng.normal(size=(Z.shape[1], classes)) + rng.gumbel(size=(n, classes)) + bias * np.arange(classes)
    return Dataset(X, scores.argmax(axis=1), schema)


def streams(m):
    return [np.random.default_rng(j) for j in range(m)]


def members(n, m, seed=1):
    return np.random.default_rng(seed).random((n, m)) < 0.5


def oracle(data, mine, C):
    Z = Encoding(data.schema).encode(data.X[mine])
    solver = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-12, max_iter=1000)
    return solver.fit(Z, data.y[mine])


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize(
    ("n", "width", "bias"), [(200, 4, 0.0), (200, 4, 3.0), (30, 60, 0.0)], ids=["plain", "unbalanced", "wide"]
)
def test_two_classes_agree_with_scikit_learn(n, width, bias, C):
    data, member = table(n, width, bias=bias), members(n, 3)
    fitted = Logistic(C).fit(data, member, streams(3))
    for j in range(3):
        peer = oracle(data, member[:, j], C)
        np.testing.assert_allclose(2 * fitted.coef[j][:, 1], peer.coef_[0], atol=1e-8)
        np.testing.assert_allclose(2 * fitted.intercept[j][1], peer.intercept_[0], atol=1e-8)
        np.testing.assert_array_equal(fitted.coef[j][:, 0], -fitted.coef[j][:, 1])


@pytest.mark.parametrize(("n", "width"), [(300, 4), (40, 70)], ids=["tall", "wide"])
def test_more_classes_agree_with_scikit_learn(n, width):
    data, member = table(n, width, classes=4), members(n, 2)
    fitted = Logistic(0.7).fit(data, member, streams(2))
    for j in range(2):
        peer = oracle(data, member[:, j], 0.7)
        np.testing.assert_allclose(fitted.coef[j], peer.coef_.T, atol=1e-8)
        np.testing.assert_allclose(fitted.intercept[j], peer.intercept_ - peer.intercept_.mean(), atol=1e-8)


def test_large_problems_take_the_other_road_to_the_same_place(monkeypatch):
    data, member = table(300, 10, classes=3), members(300, 2)
    newton = Logistic().fit(data, member, streams(2))
    monkeypatch.setattr(logistic, "LARGEST", 0)
    other = Logistic().fit(data, member, streams(2))
    np.testing.assert_allclose(other.coef, newton.coef, atol=1e-8)
    np.testing.assert_allclose(other.intercept, newton.intercept, atol=1e-8)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("largest", [0, 300], ids=["approached", "solved"])
def test_one_hot_rows_are_sparse_and_have_the_same_optimum(monkeypatch, largest, classes):
    monkeypatch.setattr(logistic, "LARGEST", largest)
    data, member = table(300, 1, classes=classes, kinds=12), members(300, 1)
    monkeypatch.setattr(logistic, "SPARSE", 0.0)
    dense = Logistic().fit(data, member, streams(1))
    monkeypatch.setattr(logistic, "SPARSE", 0.5)
    sparse = Logistic().fit(data, member, streams(1))
    assert issparse(logistic._rows(Encoding(data.schema).encode(data.X)))
    np.testing.assert_allclose(sparse.coef, dense.coef, atol=1e-8)
    peer = oracle(data, member[:, 0], 1.0)
    expected = peer.coef_[0] if classes == 2 else peer.coef_.T
    np.testing.assert_allclose(2 * sparse.coef[0][:, 1] if classes == 2 else sparse.coef[0], expected, atol=1e-8)


def test_the_gradient_vanishes_with_redundant_columns():
    data = table(200, 2, kinds=3)
    fitted = Logistic(5.0).fit(data, np.ones((200, 1), dtype=bool), streams(1))
    Z = Encoding(data.schema).encode(data.X)
    w, b = 2 * fitted.coef[0][:, 1], 2 * fitted.intercept[0][1]
    residual = 1 / (1 + np.exp(-Z @ w - b)) - data.y
    np.testing.assert_allclose(5.0 * Z.T @ residual + w, 0, atol=1e-6)
    assert abs(residual.sum()) < 1e-6


@pytest.mark.parametrize("largest", [0, 300], ids=["approached", "solved"])
def test_weights_are_close_to_the_optimum_under_a_weak_penalty(monkeypatch, largest):
    """The objective curves by one or more in every weight: the gradient bounds how far they are from the optimum."""
    monkeypatch.setattr(logistic, "LARGEST", largest)
    data = table(600, 2, kinds=20)
    fitted = Logistic(1000.0).fit(data, np.ones((600, 1), dtype=bool), streams(1))
    Z = Encoding(data.schema).encode(data.X)
    w, b = 2 * fitted.coef[0][:, 1], 2 * fitted.intercept[0][1]
    residual = 1 / (1 + np.exp(-Z @ w - b)) - data.y
    assert np.linalg.norm(1000.0 * Z.T @ residual + w) < 1e-8
    assert abs(1000.0 * residual.sum()) < 1e-8


def test_separable_rows_and_a_huge_C_end_quietly():
    data = Dataset(np.array([[-2.0], [-1.0], [1.0], [2.0]]), [0, 0, 1, 1], Schema((Column("x"),)))
    fitted = Logistic(1e12).fit(data, np.ones((4, 1), dtype=bool), streams(1))
    assert np.isfinite(fitted.coef).all()
    assert (fitted[0].logits(data.X).argmax(axis=1) == data.y).all()
    three = table(12, 8, classes=3)
    spread = Logistic(1e12).fit(three, np.ones((12, 1), dtype=bool), streams(1))
    assert np.isfinite(spread.coef).all()
    assert (spread[0].logits(three.X).argmax(axis=1) == three.y).all()


@pytest.mark.parametrize(("width", "classes", "kinds"), [(5, 2, 1), (5, 3, 1), (150, 2, 1), (1, 2, 40), (120, 3, 1)])
def test_a_column_is_the_same_to_the_bit_in_any_block(width, classes, kinds):
    data, member = table(200, width, classes=classes, kinds=kinds), members(200, 6)
    whole = Logistic().fit(data, member, streams(6))
    for j in range(6):
        alone = Logistic().fit(data, member[:, [j]], streams(1))
        np.testing.assert_array_equal(alone.coef[0], whole.coef[j])
        np.testing.assert_array_equal(alone.intercept[0], whole.intercept[j])
    np.testing.assert_array_equal(whole.logits(data.X)[:, 3], whole[3].logits(data.X))


def test_a_class_that_was_not_seen_is_all_but_impossible():
    data = table(100, 3, classes=3)
    member = (data.y != 1)[:, None]
    logits = Logistic().fit(data, member, streams(1))[0].logits(data.X[member[:, 0]])
    assert (logits[:, 1] <= logits[:, [0, 2]].min(axis=1) + np.log(1e-12) + 1e-9).all()


def test_members_of_one_class_are_refused():
    data = table(20, 2)
    member = np.column_stack([np.ones(20, dtype=bool), data.y == 1])
    with pytest.raises(JaliError, match="1 of 2 models lack members of two classes: give"):
        Logistic().fit(data, member, streams(2))
    with pytest.raises(JaliError, match="one random stream per model"):
        Logistic().fit(data, member, streams(3))
