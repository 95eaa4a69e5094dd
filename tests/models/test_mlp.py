"""Networks: the hand-written gradient against torch's tape, whole training runs against torch.nn, and blocks."""

from __future__ import annotations

import sys
from itertools import pairwise

import numpy as np
import pytest

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.protocols import Differentiable
from jali.core.values import Column, Dataset, Schema
from jali.models import mlp
from jali.models.mlp import MLP

torch = pytest.importorskip("torch", reason="the extra jali-audit[torch] is not installed")


def table(n=120, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(5.0, 2.0, (n, 3)), rng.integers(0, 2, n)])
    columns = [Column(f"x{j}", centre=5.0, spread=2.0) for j in range(3)]
    columns.append(Column("c", "category", 0, 1, categories=("a", "b")))
    y = np.digitize(X[:, 0] + X[:, 3], [4.5, 6.5])[:n] % classes
    return Dataset(X, y, Schema(tuple(columns), tuple("abc"[:classes])))


def streams(m):
    return [np.random.default_rng(j) for j in range(m)]


def members(n, m):
    return np.random.default_rng(1).random((n, m)) < 0.6


@pytest.mark.parametrize("hidden", [(), (7,), (9, 4)])
def test_the_written_out_gradient_is_that_of_the_tape(hidden):
    sizes = (5, *hidden, 3)
    stream = torch.Generator().manual_seed(0)
    flat = torch.randn(sum(a * b + b for a, b in pairwise(sizes)), generator=stream)
    z, of = torch.randn(16, 5, generator=stream), torch.arange(16) % 3
    slopes = torch.zeros_like(flat)
    mlp._backward(mlp.layers_of(flat, sizes), mlp.layers_of(slopes, sizes), z, torch.eye(3)[of])
    taped = flat.clone().requires_grad_()
    h = z
    for W, b in mlp.layers_of(taped, sizes)[:-1]:
        h = torch.relu(h @ W + b)
    W, b = mlp.layers_of(taped, sizes)[-1]
    torch.nn.functional.cross_entropy(h @ W + b, of).backward()
    torch.testing.assert_close(slopes, taped.grad)


def test_training_is_that_of_a_plain_torch_loop():
    data, part = table(), MLP(hidden=(8,), epochs=4, lr=0.01, weight_decay=0.1, batch=32)
    ours = part.fit(data, np.ones((len(data), 1), dtype=bool), streams(1))[0]
    stream = torch.Generator().manual_seed(int(np.random.default_rng(0).integers(2**63)))
    start = MLP(hidden=(8,), epochs=1, lr=0.0).fit(data, np.ones((len(data), 1), dtype=bool), streams(1))[0]
    for W in start.weights:  # the same draws, in the same order
        torch.rand(W.size, generator=stream), torch.rand(W.shape[1], generator=stream)
    net = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    with torch.no_grad():
        for layer, W, b in zip((net[0], net[2]), start.weights, start.biases, strict=True):
            layer.weight.copy_(torch.tensor(W.T))
            layer.bias.copy_(torch.tensor(b))
    adam = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=0.1)
    Z, y = torch.tensor(Encoding(data.schema).encode(data.X), dtype=torch.float32), torch.tensor(data.y)
    for _ in range(4):
        for rows in torch.split(torch.randperm(len(data), generator=stream), 32):
            adam.zero_grad()
            torch.nn.functional.cross_entropy(net(Z[rows]), y[rows]).backward()
            adam.step()
    np.testing.assert_allclose(ours.weights[0], net[0].weight.detach().numpy().T, atol=1e-5)
    np.testing.assert_allclose(ours.logits(data.X), net(Z).detach().numpy(), atol=1e-4)


def test_the_start_is_that_of_torch():
    data = table()
    net = MLP(hidden=(400,), epochs=1, lr=0.0).fit(data, np.ones((len(data), 1), dtype=bool), streams(1))[0]
    for W, b in zip(net.weights, net.biases, strict=True):
        reach = 1 / np.sqrt(len(W))
        assert np.abs(W).max() <= reach
        assert np.abs(b).max() <= reach
        assert W.std() == pytest.approx(reach / np.sqrt(3), rel=0.1)


@pytest.mark.parametrize("hidden", [(16,), (9, 4)])
def test_a_column_is_the_same_to_the_bit_in_any_block(hidden):
    data, member, part = table(), members(120, 4), MLP(hidden=hidden, epochs=3, batch=16)
    whole = part.fit(data, member, streams(4))
    for j in range(4):
        alone = part.fit(data, member[:, [j]], [streams(4)[j]])
        for name, array in alone.arrays().items():
            np.testing.assert_array_equal(array[0], whole.arrays()[name][j])
    np.testing.assert_array_equal(whole.logits(data.X)[:, 2], whole[2].logits(data.X))
    assert (whole.weights[0][0] != whole.weights[0][1]).all()


def test_gradients_are_slopes_of_the_logits():
    data = table()
    net = MLP(hidden=(16, 8), epochs=5).fit(data, np.ones((len(data), 1), dtype=bool), streams(1))[0]
    assert isinstance(net, Differentiable)
    Z, of = Encoding(data.schema).encode(data.X), data.y
    taped = torch.tensor(Z, dtype=torch.float32, requires_grad=True)
    h = taped
    for W, b in zip(net.weights[:-1], net.biases[:-1], strict=True):
        h = torch.relu(h @ torch.tensor(W) + torch.tensor(b))
    out = h @ torch.tensor(net.weights[-1]) + torch.tensor(net.biases[-1])
    out[torch.arange(len(Z)), torch.tensor(of)].sum().backward()
    np.testing.assert_allclose(net.gradient(Z, of), taped.grad.numpy(), atol=1e-5)
    np.testing.assert_allclose(net.logits(data.X), out.detach().numpy(), atol=1e-5)
    step = 1e-2
    up, down = data.X.copy(), data.X.copy()
    up[:, 0] += step
    down[:, 0] -= step
    slope = (net.logits(up) - net.logits(down))[np.arange(len(of)), of] / (2 * step / 2.0)
    assert np.median(np.abs(slope - net.gradient(Z, of)[:, 0])) < 1e-3


def test_it_learns_and_leaves_torch_as_it_was():
    data = table(400)
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    torch.set_num_threads(2)
    fitted = MLP(hidden=(32,), epochs=60, lr=0.01).fit(data, members(400, 2), streams(2))
    assert torch.get_num_threads() == 2
    assert torch.equal(torch.get_rng_state(), state)
    torch.set_num_threads(threads)
    assert (fitted.logits(data.X).argmax(axis=2) == data.y[:, None]).mean() > 0.9


@pytest.mark.parametrize(
    "part",
    [MLP(hidden=(0,)), MLP(hidden=8), MLP(epochs=0), MLP(batch=0), MLP(epochs=1, lr=-1.0), MLP(weight_decay=-0.1)],
)
def test_sizes_are_checked(part):
    with pytest.raises(JaliError, match=r"be positive|not be below 0"):
        part.fit(table(), members(120, 1), streams(1))


def test_divergence_and_missing_torch_are_said(monkeypatch):
    data, member = table(), members(120, 1)
    with pytest.raises(JaliError, match="diverged"):
        MLP(hidden=(4, 4), lr=1e38, epochs=5).fit(data, member, streams(1))
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(JaliError, match=r"pip install 'jali-audit\[torch\]'"):
        MLP().fit(data, member, streams(1))
