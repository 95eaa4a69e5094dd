"""Private ReLU networks: the norms of per-row gradients are computed without the gradients themselves.

The gradient of one row for the weights of a layer is the outer product of the layer's input a and the gradient b at its
output. Its norm is therefore |a| |b|, and sqrt(|a|^2 + 1) |b| with the bias, so no per-row gradient is stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Bools, Dataset, Rng
from jali.defend._dp.optimiser import MECHANISM, Mechanism
from jali.models.fitted.membership_check import streamed
from jali.models.fitted.network import NetworkEnsemble
from jali.models.fitted.torch_network import one_thread
from jali.models.mlp import MLP, layers_of, started
from jali.privacy.mechanisms import released

if TYPE_CHECKING:
    import torch

    Layers = list[tuple[torch.Tensor, torch.Tensor]]


def fitted(part: MLP, data: Dataset, member: Bools, rngs: list[Rng], mechanism: Mechanism) -> NetworkEnsemble:
    """Train one network per column of member (N, M); column j draws its start, batches and noise from rngs[j]."""
    part.check()
    member = streamed(data, member, rngs)
    with one_thread("dp_sgd"):
        import torch

        encoding = Encoding(data.schema)
        Z = torch.from_numpy(encoding.encode(data.X).astype(np.float32))
        Y = torch.from_numpy(np.eye(len(data.schema.classes), dtype=np.float32)[data.y])
        sizes = (Z.shape[1], *part.hidden, Y.shape[1])
        nets = []
        for mine, rng in zip(member.T, rngs, strict=True):
            own = torch.from_numpy(np.flatnonzero(mine))
            stream = torch.Generator().manual_seed(int(rng.integers(2**63)))
            flat = _released(part, sizes, Z[own], Y[own], stream, mechanism)
            nets.append([(W.numpy(), b.numpy()) for W, b in layers_of(flat, sizes)])
    layers = [[np.stack(tensors) for tensors in zip(*layer, strict=True)] for layer in zip(*nets, strict=True)]
    return NetworkEnsemble(encoding, tuple(W for W, _ in layers), tuple(b for _, b in layers))


def _released(part: MLP, sizes: tuple[int, ...], Z: Any, Y: Any, stream: Any, mechanism: Mechanism) -> torch.Tensor:
    """The weights of one network, released by the declared mechanism."""
    import torch

    def weights() -> Any:
        return _train(part, sizes, Z, Y, stream, mechanism).double().numpy()

    flat = released(MECHANISM, weights, multiplier=mechanism.multiplier)
    if not np.isfinite(flat).all():
        raise JaliError(f"dp_sgd: training diverged with lr = {part.lr}; choose a smaller lr.")
    return torch.from_numpy(flat.astype(np.float32))


def _train(
    part: MLP, sizes: tuple[int, ...], Z: torch.Tensor, Y: torch.Tensor, stream: torch.Generator, mechanism: Mechanism
) -> torch.Tensor:
    """All weights of one network as one vector, so that a step is one call of the optimiser and one draw of noise."""
    import torch

    flat, layers, sums = started(sizes, stream)
    assert flat.grad is not None
    adam = torch.optim.Adam([flat], lr=part.lr, weight_decay=part.weight_decay, fused=True)
    spread = mechanism.multiplier * mechanism.bound
    for some in mechanism.batches(len(Z), stream):
        clipped(layers, sums, Z[some], Y[some], mechanism)
        flat.grad.add_(torch.randn(len(flat), generator=stream), alpha=spread).div_(part.batch)
        adam.step()
    return flat.detach()


def clipped(layers: Layers, sums: Layers, z: torch.Tensor, y: torch.Tensor, mechanism: Mechanism) -> None:
    """Write the sum of the clipped per-row gradients of the cross-entropy into sums; rows z (n, P), labels y (n, C)."""
    import torch

    outputs = [z]
    for W, b in layers[:-1]:
        outputs.append(torch.addmm(b, outputs[-1], W).relu_())
    W, b = layers[-1]
    back = [torch.addmm(b, outputs[-1], W).softmax(1).sub_(y)]
    for at in range(len(layers) - 1, 0, -1):
        back.append(torch.ops.aten.threshold_backward(torch.mm(back[-1], layers[at][0].T), outputs[at], 0.0))
    back.reverse()
    square = sum((_length(a) ** 2 + 1) * _length(d) ** 2 for a, d in zip(outputs, back, strict=True))
    lengths = torch.as_tensor(square).sqrt()
    # A row whose gradient overflows is left out: infinity plus noise would not be private.
    if not bool((known := lengths.isfinite()).all()):
        return clipped(layers, sums, z[known], y[known], mechanism)
    factors = mechanism.factors(lengths)[:, None]
    for a, d, (dW, db) in zip(outputs, back, sums, strict=True):
        d *= factors
        torch.mm(a.T, d, out=dW)
        torch.sum(d, 0, out=db)


def _length(rows: torch.Tensor) -> torch.Tensor:
    """The Euclidean norm (n,) of each row."""
    import torch

    out: torch.Tensor = torch.linalg.vector_norm(rows, dim=1)
    return out
