"""Private ReLU networks: sums against Opacus and against one row at a time, and training against a plain loop."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from jali.core.values import Column, Dataset, Schema
from jali.defend._dp import mlp
from jali.defend._dp.optimiser import Mechanism
from jali.models.mlp import MLP, layers_of

torch = pytest.importorskip("torch", reason="the extra jali-audit[torch] is not installed")


def random_layers(sizes):
    flat = torch.randn(sum(a * b + b for a, b in pairwise(sizes)), generator=torch.Generator().manual_seed(0))
    return layers_of(flat, sizes), torch.zeros_like(flat)


def rows(n, sizes):
    stream = torch.Generator().manual_seed(1)
    return torch.randn(n, sizes[0], generator=stream), torch.arange(n) % sizes[-1]


def sequential(layers):
    modules = []
    for W, b in layers:
        linear = torch.nn.Linear(*W.shape)
        linear.load_state_dict({"weight": W.T.clone(), "bias": b.clone()})
        modules += [linear, torch.nn.ReLU()]
    return torch.nn.Sequential(*modules[:-1])


@pytest.mark.parametrize("clipping", ["automatic", "flat"])
@pytest.mark.parametrize("sizes", [(5, 3), (5, 7, 3), (6, 9, 4, 2)])
def test_clipped_sums_are_those_of_opacus(sizes, clipping):
    pytest.importorskip("opacus", reason="the extra jali-audit[private] is not installed")
    from opacus import GradSampleModule

    layers, sums = random_layers(sizes)
    how, (z, y) = Mechanism(0.0, 0.5, 1, clipping, 0.7), rows(20, sizes)
    mlp.clipped(layers, layers_of(sums, sizes), z, torch.eye(sizes[-1])[y], how)
    wrapped = GradSampleModule(sequential(layers), loss_reduction="sum")
    with pytest.warns(UserWarning, match="Full backward hook"):
        torch.nn.functional.cross_entropy(wrapped(z), y, reduction="sum").backward()
    each = [p.grad_sample.reshape(20, -1) for p in wrapped.parameters()]
    factors = how.factors(torch.cat(each, dim=1).norm(dim=1))
    for (W, b), weight, bias in zip(layers_of(sums, sizes), each[::2], each[1::2], strict=True):
        torch.testing.assert_close(W.T.reshape(-1), factors @ weight, atol=1e-6, rtol=1e-5)
        torch.testing.assert_close(b, factors @ bias, atol=1e-6, rtol=1e-5)


def table(n=150):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    return Dataset(X, (X[:, 0] > 0) + (X[:, 1] > 0.5), Schema(tuple(map(Column, "abcd")), tuple("xyz")))


def test_without_noise_on_all_rows_it_is_descent_along_unit_gradients():
    data, part = table(), MLP(hidden=(6,), epochs=5, lr=0.01, batch=50, weight_decay=0.1)
    member, how = np.ones((150, 1), dtype=bool), Mechanism(0.0, 1.0, 5, "automatic", 1.0)
    ours = mlp.fitted(part, data, member, [np.random.default_rng(0)], how)[0]
    start = mlp.fitted(MLP(hidden=(6,), lr=0.0), data, member, [np.random.default_rng(0)], how)[0]
    net = sequential([(torch.tensor(W), torch.tensor(b)) for W, b in zip(start.weights, start.biases, strict=True)])
    adam = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=0.1)
    Z, y = torch.tensor(data.X, dtype=torch.float32), torch.tensor(data.y)
    for _ in range(5):
        for p in net.parameters():
            p.grad = torch.zeros_like(p)
        for z, label in zip(Z, y, strict=True):
            slopes = torch.autograd.grad(torch.nn.functional.cross_entropy(net(z[None]), label[None]), net.parameters())
            length = torch.sqrt(sum((s * s).sum() for s in slopes))
            for p, slope in zip(net.parameters(), slopes, strict=True):
                p.grad += slope / (length + 0.01) / 50
        adam.step()
    np.testing.assert_allclose(ours.weights[0], net[0].weight.detach().numpy().T, atol=1e-5)


def test_a_column_is_the_same_to_the_bit_in_any_block():
    data, how = table(), Mechanism(1.0, 0.2, 10, "automatic", 1.0)
    member = np.random.default_rng(1).random((150, 3)) < 0.6
    streams = [[np.random.default_rng(j) for j in range(3)] for _ in range(2)]
    whole = mlp.fitted(MLP(hidden=(5,)), data, member, streams[0], how)
    alone = mlp.fitted(MLP(hidden=(5,)), data, member[:, [2]], streams[1][2:], how)
    for name, array in alone.arrays().items():
        np.testing.assert_array_equal(array[0], whole.arrays()[name][2])


def test_noise_moves_the_weights_as_far_as_its_deviation_says():
    """Without rows, one step leaves Adam's direction: plus or minus lr for every weight."""
    data, how = table(), Mechanism(1.0, 1e-9, 1, "automatic", 1.0)
    member = np.ones((150, 1), dtype=bool)
    start, moved = (
        mlp.fitted(MLP(hidden=(), lr=lr), data, member, [np.random.default_rng(0)], how) for lr in (0.0, 0.01)
    )
    np.testing.assert_allclose(np.abs(moved.weights[0] - start.weights[0]), 0.01, rtol=1e-3)
