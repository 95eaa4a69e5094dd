"""Fully connected networks, trained by Adam with torch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Bools, Dataset, Rng
from jali.models.fitted.membership_check import checked
from jali.models.fitted.network import Network, NetworkEnsemble

if TYPE_CHECKING:
    import torch

    Layers = list[tuple[torch.Tensor, torch.Tensor]]


@dataclass(frozen=True)
class MLP:
    """A ReLU network on the encoded features: cross-entropy plus `weight_decay` / 2 ||parameters||^2, by Adam.

    Weights and biases start uniform in +-1/sqrt(inputs of the layer), and the rows are shuffled every epoch. Both come
    from the model's own random stream, so it has the same bits whatever other models are trained in the same call.

    >>> MLP(hidden=(1000,), epochs=10, batch=256)
    MLP(hidden=(1000,), epochs=10, lr=0.001, weight_decay=0.0, batch=256)
    """

    hidden: tuple[int, ...] = (64,)
    epochs: int = 50
    lr: float = 1e-3
    weight_decay: float = 0.0
    batch: int = 64

    def fit(self, data: Dataset, member: Bools, rngs: list[Rng]) -> NetworkEnsemble:
        """Train one network per column of member (N, M); column j draws from rngs[j] alone."""
        self.check()
        member = checked(data, member, rngs)
        with _one_thread():
            import torch

            encoding = Encoding(data.schema)
            Z = torch.from_numpy(encoding.encode(data.X).astype(np.float32))
            Y = torch.from_numpy(np.eye(len(data.schema.classes), dtype=np.float32)[data.y])
            own = [torch.from_numpy(np.flatnonzero(mine)) for mine in member.T]
            nets = [self._network(encoding, Z[o], Y[o], rng) for o, rng in zip(own, rngs, strict=True)]
        return _joined(nets)

    def check(self) -> None:
        """Raise an error that says which setting cannot be used."""
        widths = self.hidden if isinstance(self.hidden, tuple) else (0,)
        if not all(isinstance(n, int) and n > 0 for n in (*widths, self.epochs, self.batch)):
            raise JaliError(f"mlp: hidden must list positive widths, epochs and batch be positive; got {self}.")
        if min(self.lr, self.weight_decay) < 0:
            raise JaliError(f"mlp: lr and weight_decay must not be below 0, not {self.lr} and {self.weight_decay}.")

    def _network(self, encoding: Encoding, Z: torch.Tensor, Y: torch.Tensor, rng: Rng) -> Network:
        import torch

        stream = torch.Generator().manual_seed(int(rng.integers(2**63)))
        layers = self._train(Z, Y, stream)
        if not all(bool(W.isfinite().all()) for W, _ in layers):
            raise JaliError(f"mlp: training diverged with lr = {self.lr}; lower lr, or scale the columns.")
        return Network(encoding, tuple(W.numpy() for W, _ in layers), tuple(b.numpy() for _, b in layers))

    def _train(self, Z: torch.Tensor, Y: torch.Tensor, stream: torch.Generator) -> Layers:
        """Weights and biases of one trained network; the gradient is hand-written, as autograd takes a third longer."""
        import torch

        flat, layers, slopes = started((Z.shape[1], *self.hidden, Y.shape[1]), stream)
        adam = torch.optim.Adam([flat], lr=self.lr, weight_decay=self.weight_decay, fused=True)
        for _ in range(self.epochs):
            order = torch.randperm(len(Z), generator=stream)
            for z, y in zip(torch.split(Z[order], self.batch), torch.split(Y[order], self.batch), strict=True):
                _backward(layers, slopes, z, y)
                adam.step()
        return layers


def started(sizes: tuple[int, ...], stream: torch.Generator) -> tuple[torch.Tensor, Layers, Layers]:
    """All weights of one network as one vector, drawn as they start; its layers, and those of its gradient."""
    import torch

    flat = torch.zeros(sum(a * b + b for a, b in pairwise(sizes)), requires_grad=True)
    flat.grad = torch.zeros_like(flat)
    layers = layers_of(flat.detach(), sizes)
    for W, b in layers:
        reach = 1 / np.sqrt(len(W))
        W.uniform_(-reach, reach, generator=stream)
        b.uniform_(-reach, reach, generator=stream)
    return flat, layers, layers_of(flat.grad, sizes)


def layers_of(flat: torch.Tensor, sizes: tuple[int, ...]) -> Layers:
    """Views of one flat vector: W (in, out) and b (out,) per layer.

    One vector needs one optimiser call. The longer side of W is contiguous, because products with a short last axis are
    several times slower.
    """
    layers, at = [], 0
    for a, b in pairwise(sizes):
        W = flat[at : at + a * b]
        layers.append((W.view(a, b) if b >= a else W.view(b, a).T, flat[at + a * b : at + a * b + b]))
        at += a * b + b
    return layers


def _backward(layers: Layers, slopes: Layers, z: torch.Tensor, y: torch.Tensor) -> None:
    """Write the gradient of the mean cross-entropy of one batch into slopes."""
    import torch

    outputs = [z]
    for W, b in layers[:-1]:
        outputs.append(torch.addmm(b, outputs[-1], W).relu_())
    W, b = layers[-1]
    back = torch.addmm(b, outputs[-1], W).softmax(1).sub_(y).div_(len(z))
    for at in range(len(layers) - 1, -1, -1):
        torch.mm(outputs[at].T, back, out=slopes[at][0])
        torch.sum(back, 0, out=slopes[at][1])
        if at:
            back = torch.mm(back, layers[at][0].T).mul_(outputs[at].sign_())


def _joined(nets: list[Network]) -> NetworkEnsemble:
    weights = tuple(np.stack(W) for W in zip(*(n.weights for n in nets), strict=True))
    biases = tuple(np.stack(b) for b in zip(*(n.biases for n in nets), strict=True))
    return NetworkEnsemble(nets[0].encoding, weights, biases)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Limit torch to one thread: work is spread over processes, and threads that wait for a core are slower."""
    try:
        import torch
    except ImportError:
        raise JaliError("mlp needs torch, which is not installed: pip install 'jali-audit[torch]'.") from None
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
