from __future__ import annotations

import numpy as np

from jali.core import Column, Schema
from jali.encoding import Encoding
from jali.models._network import Network, NetworkEnsemble

ENCODING = Encoding(Schema((Column("x"), Column("y"))))
W = (np.array([[1.0, -1.0], [2.0, 0.0]]), np.array([[1.0, 0.0], [3.0, 1.0]]))
B = (np.array([0.0, 1.0]), np.array([0.5, 0.0]))


def test_by_hand():
    net = Network(ENCODING, W, B)
    X = np.array([[1.0, 1.0], [-2.0, 0.5]])  # hidden: (3, 0), (0, 3)
    np.testing.assert_array_equal(net.logits(X), [[3.5, 0.0], [9.5, 3.0]])
    np.testing.assert_array_equal(net.gradient(X, np.array([0, 0])), [[1.0, 2.0], [-3.0, 0.0]])
    assert net.logits(X).dtype == net.gradient(X, np.array([0, 0])).dtype == np.float64


def test_an_ensemble_is_its_networks():
    both = NetworkEnsemble(ENCODING, tuple(np.stack([w, -w]) for w in W), tuple(np.stack([b, b]) for b in B))
    X = np.array([[1.0, 1.0]])
    assert len(both) == 2
    np.testing.assert_array_equal(both.logits(X)[:, 0], Network(ENCODING, W, B).logits(X))
    assert list(both.arrays()) == ["weight0", "bias0", "weight1", "bias1"]
    assert [net.weights[0][0, 0] for net in both] == [1.0, -1.0]
