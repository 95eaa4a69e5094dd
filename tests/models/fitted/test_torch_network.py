"""Torch networks as models: blocks, slopes against differences, and what comes back from plain arrays."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.protocols import Differentiable
from jali.models.convnet import ConvNet
from jali.models.fitted.restore import restore
from jali.models.fitted.torch_network import BLOCK, TorchModel, one_thread
from tests.pictures import bars, members, streams

torch = pytest.importorskip("torch", reason="the extra jali-audit[torch] is not installed")


@pytest.fixture(scope="module")
def fitted():
    data = bars(BLOCK + 20)
    return data, ConvNet(width=4, epochs=2).fit(data, members(len(data), 2), streams(2))


def test_logits_are_those_of_the_module_in_any_number_of_blocks(fitted):
    data, nets = fitted
    model, Z = nets[0], Encoding(data.schema).encode(data.X)
    with torch.no_grad():
        whole = model.module(torch.tensor(Z, dtype=torch.float32)).numpy()
    np.testing.assert_allclose(model.logits(data.X), whole, atol=1e-5)
    assert model.logits(data.X).dtype == np.float64
    np.testing.assert_array_equal(nets.logits(data.X)[:, 1], nets[1].logits(data.X))
    assert model.logits(data.X[:0]).shape == (0, 3)


def test_gradients_are_those_of_the_tape_row_by_row(fitted):
    data, nets = fitted
    model, Z = nets[0], Encoding(data.schema).encode(data.X)
    assert isinstance(model, Differentiable)
    found = model.gradient(Z, data.y)
    for i in (0, BLOCK, len(Z) - 1):
        z = torch.tensor(Z[i : i + 1], dtype=torch.float32, requires_grad=True)
        model.module(z)[0, data.y[i]].backward()
        np.testing.assert_allclose(found[i], z.grad[0].numpy(), atol=1e-6)


def test_the_margin_is_the_lead_and_its_slope(fitted):
    data, nets = fitted
    model, Z = nets[0], Encoding(data.schema).encode(data.X)
    value, slope = model.margin(Z, data.y)
    logits = model.logits(data.X)
    at = np.arange(len(Z))
    others = np.where(np.eye(3, dtype=bool)[data.y], -np.inf, logits)
    np.testing.assert_allclose(value, logits[at, data.y] - others.max(axis=1), atol=1e-5)
    apart = model.gradient(Z, data.y) - model.gradient(Z, others.argmax(axis=1))
    np.testing.assert_allclose(slope, apart, atol=1e-5)


def test_a_file_brings_back_the_same_networks(fitted, tmp_path):
    data, nets = fitted
    np.savez(tmp_path / "models.npz", **nets.arrays())
    with np.load(tmp_path / "models.npz", allow_pickle=False) as stored:
        back = restore({name: stored[name][1:] for name in stored.files}, Encoding(data.schema))
    assert len(back) == 1
    np.testing.assert_array_equal(back[0].logits(data.X), nets[1].logits(data.X))


def test_pictures_of_another_shape_are_refused(fitted):
    _, nets = fitted
    with pytest.raises(JaliError, match=r"rows of 64 columns \(images of \(1, 8, 8\)\), not \(5, 63\)"):
        nets[0].logits(np.zeros((5, 63)))


def test_threads_are_given_back_and_a_missing_torch_is_said(fitted, monkeypatch):
    data, nets = fitted
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    nets[0].logits(data.X)
    assert torch.get_num_threads() == 2
    torch.set_num_threads(threads)
    assert isinstance(nets[0], TorchModel)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(JaliError, match=r"vit needs torch.*jali-audit\[torch\]"), one_thread("vit"):
        pass
