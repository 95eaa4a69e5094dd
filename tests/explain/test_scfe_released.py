from __future__ import annotations

import numpy as np
import pytest

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Column, Schema
from jali.explain.scfe import SCFE
from jali.explain.scfe_released import SCFEReleased
from jali.models.fitted.linear import LinearModel
from jali.models.fitted.network import Network
from tests.explaining import explained


def explain(part, model, X, schema):
    return explained(part, model, np.asarray(X, float), schema, None, np.random.default_rng(0))


def test_constant_slopes_move_every_column_alike():
    """With a constant gradient Adam steps by lr in every column: first crossing of 3k + 4k = 25 at lr k >= 25/7."""
    schema = Schema((Column("a"), Column("b")), favourable=1)
    model = LinearModel(Encoding(schema), np.array([[0.0, 3.0], [0.0, 4.0]]), np.array([0.0, -25.0]))
    out = explain(SCFEReleased(), model, [[0, 0]], schema)
    assert out.found[0]
    np.testing.assert_allclose(out.rows[0, 0], out.rows[0, 1])
    assert 25 / 7 <= out.rows[0, 0] < 25 / 7 + 0.01


def test_first_crossing_against_torch():
    """The same search, written with autograd for one record."""
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    schema = Schema(tuple(Column(f"x{j}") for j in range(4)), favourable=1)
    weights = (rng.normal(size=(4, 30)) / 2, rng.normal(size=(30, 2)) / 5)
    net = Network(Encoding(schema), weights, (rng.normal(size=30), np.array([0.5, 0.0])))
    X = rng.normal(size=(40, 4))
    out = explain(SCFEReleased(lr=0.02), net, X, schema)
    (W, V), (b, c) = (
        tuple(torch.tensor(a, dtype=torch.float64) for a in arrays) for arrays in (net.weights, net.biases)
    )
    denied = np.flatnonzero(net.logits(X).argmax(axis=1) == 0)[:8]
    for i in denied:
        z = torch.tensor(X[i], requires_grad=True)
        adam = torch.optim.Adam([z], lr=0.02)
        for _ in range(1000):
            logits = (z @ W + b).relu() @ V + c
            if logits[1] > logits[0] + 1e-4:
                break
            adam.zero_grad()
            torch.nn.functional.cross_entropy(logits[None], torch.tensor([1])).backward()
            adam.step()
        if out.found[i]:
            np.testing.assert_allclose(out.rows[i], z.detach().numpy(), atol=0.05)
    assert out.found[denied].any()


def test_it_is_longer_than_the_converged_search():
    rng = np.random.default_rng(1)
    schema = Schema(tuple(Column(f"x{j}") for j in range(10)), favourable=1)
    w = rng.normal(size=10)
    model = LinearModel(Encoding(schema), np.stack([-w / 2, w / 2], axis=1), np.array([1.0, -1.0]))
    X = rng.normal(size=(100, 10))
    first, nearest = explain(SCFEReleased(), model, X, schema), explain(SCFE(cost="l1"), model, X, schema)
    np.testing.assert_array_equal(first.found, nearest.found)
    far, near = (np.abs(out.rows - X).sum(axis=1)[first.found] for out in (first, nearest))
    assert (far > near).all()
    assert np.median(far / near) > 1.5


def test_the_budget_ends_the_search():
    schema = Schema((Column("a"),), favourable=1)
    model = LinearModel(Encoding(schema), np.array([[0.0, 1.0]]), np.array([0.0, -1.0]))
    out = explain(SCFEReleased(steps=100, lr=0.005), model, [[0.0], [0.6]], schema)
    assert out.found.tolist() == [False, True]


def test_fields_are_checked():
    with pytest.raises(JaliError, match="steps must be at least 1"):
        SCFEReleased(steps=0)
