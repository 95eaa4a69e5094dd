from __future__ import annotations

import numpy as np
import pytest

from jali.core.encoding import Encoding
from jali.core.values import Column, Schema
from jali.models.fitted import network
from jali.models.fitted.network import Network, NetworkEnsemble

ENCODING = Encoding(Schema((Column("x"), Column("y"))))
W = (np.array([[1.0, -1.0], [2.0, 0.0]]), np.array([[1.0, 0.0], [3.0, 1.0]]))
B = (np.array([0.0, 1.0]), np.array([0.5, 0.0]))


def test_by_hand():
    net = Network(ENCODING, W, B)
    X = np.array([[1.0, 1.0], [-2.0, 0.5]])  # hidden: (3, 0), (0, 3)
    np.testing.assert_array_equal(net.logits(X), [[3.5, 0.0], [9.5, 3.0]])
    np.testing.assert_array_equal(net.gradient(X, np.array([0, 0])), [[1.0, 2.0], [-3.0, 0.0]])
    assert net.logits(X).dtype == net.gradient(X, np.array([0, 0])).dtype == np.float64


def test_margin_by_hand():
    net = Network(ENCODING, W, B)
    X = np.array([[1.0, 1.0], [-2.0, 0.5]])
    value, slope = net.margin(X, np.array([1, 0]))
    np.testing.assert_array_equal(value, [-3.5, 6.5])
    np.testing.assert_array_equal(slope, [[-1.0, -2.0], [-2.0, 0.0]])


def test_the_margin_agrees_with_logits_and_gradients_and_does_not_depend_on_company():
    rng = np.random.default_rng(0)
    encoding = Encoding(Schema(tuple(Column(f"x{j}") for j in range(5)), classes=("0", "1", "2")))
    sizes = ((5, 40), (40, 30), (30, 3))
    net = Network(encoding, tuple(rng.normal(size=s) for s in sizes), tuple(rng.normal(size=s[1]) for s in sizes))
    Z, of = rng.normal(size=(64, 5)), rng.integers(0, 3, 64)
    value, slope = net.margin(Z, of)
    scores, each = net.logits(Z), np.arange(64)
    others = np.where(np.arange(3) == of[:, None], -np.inf, scores)
    np.testing.assert_allclose(value, scores[each, of] - others.max(axis=1), rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(
        slope, net.gradient(Z, of) - net.gradient(Z, others.argmax(axis=1)), rtol=1e-3, atol=1e-2
    )
    alone = [net.margin(Z[i : i + 1], of[i : i + 1]) for i in range(64)]
    np.testing.assert_allclose(np.concatenate([v for v, _ in alone]), value, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(np.concatenate([s for _, s in alone]), slope, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("hidden", [(40,), (30, 20)])
def test_the_margin_of_two_classes_is_that_of_many(hidden, monkeypatch):
    """A third class that never leads changes nothing, and neither does the size of a block."""
    rng = np.random.default_rng(0)
    sizes = list(zip((5, *hidden), (*hidden, 2), strict=True))
    weights, biases = [rng.normal(size=s) for s in sizes], [rng.normal(size=s[1]) for s in sizes]
    third = np.column_stack([weights[-1], np.zeros(hidden[-1])]), np.append(biases[-1], -1e6)
    schema = tuple(Column(f"x{j}") for j in range(5))
    two = Network(Encoding(Schema(schema)), tuple(weights), tuple(biases))
    three = Network(
        Encoding(Schema(schema, classes=("0", "1", "2"))), (*weights[:-1], third[0]), (*biases[:-1], third[1])
    )
    Z, of = rng.normal(size=(64, 5)), rng.integers(0, 2, 64)
    for ours, theirs in zip(two.margin(Z, of), three.margin(Z, of), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10)
    whole = two.margin(Z, of), two.logits(Z)
    monkeypatch.setattr(network, "MARGINS", 100)
    monkeypatch.setattr(network, "SCORES", 100)
    for ours, theirs in zip(two.margin(Z, of), whole[0], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(two.logits(Z), whole[1], rtol=1e-5, atol=1e-5)


def test_an_ensemble_is_its_networks():
    both = NetworkEnsemble(ENCODING, tuple(np.stack([w, -w]) for w in W), tuple(np.stack([b, b]) for b in B))
    X = np.array([[1.0, 1.0]])
    assert len(both) == 2
    np.testing.assert_array_equal(both.logits(X)[:, 0], Network(ENCODING, W, B).logits(X))
    assert list(both.arrays()) == ["weight0", "bias0", "weight1", "bias1"]
    assert [net.weights[0][0, 0] for net in both] == [1.0, -1.0]
