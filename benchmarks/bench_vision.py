"""Networks on pictures: what private training costs beside plain training, and how fast both and gradients are.

Run `python benchmarks/bench_vision.py`. Pictures are random, because speed does not depend on what they show. Plain
and private runs take turns in one process with one thread, and the best of the turns counts, in seconds of the
processor, so that other load hurts both alike and little. `mlp` is trained by formulas, and beside it by Opacus, whose
ghost clipping is the fastest way it has.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np
import torch

from jali.core.encoding import Encoding
from jali.core.protocols import Differentiable, Trainer
from jali.core.values import Column, Dataset, Schema
from jali.data.tables.images import pixels
from jali.defend._dp.optimiser import Mechanism
from jali.defend.models.dp_sgd import trained
from jali.models.convnet import ConvNet
from jali.models.mlp import MLP
from jali.models.vit import ViT

TURNS, PICTURES, ROWS, BATCH = 3, 640, 5000, 256
MODELS: dict[str, tuple[Trainer, int]] = {
    "vit, 16 px, patch 4": (ViT(epochs=1), 16),
    "vit, 32 px, patch 8": (ViT(patch=8, epochs=1), 32),
    "convnet, 32 px": (ConvNet(epochs=1), 32),
}


def pictures(size: int) -> Dataset:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 256, (PICTURES, 3 * size * size)).astype(np.float64)
    return Dataset(X, np.arange(PICTURES) % 10, Schema(pixels(3, size), tuple("0123456789"), image=(3, size, size)))


def table() -> Dataset:
    X = np.random.default_rng(0).normal(size=(ROWS, 23))
    return Dataset(X, (X[:, 0] > 0).astype(np.int64), Schema(tuple(Column(f"x{j}") for j in range(23))))


def fastest(*runs: Callable[[], object]) -> list[float]:
    """Processor seconds of each run, the best of turns; a first turn only warms up."""
    turns = [[_seconds(run) for run in runs] for _ in range(TURNS + 1)]
    return [min(times) for times in zip(*turns[1:], strict=True)]


def _seconds(run: Callable[[], object]) -> float:
    began = time.process_time()
    run()
    return time.process_time() - began


def both(model: Trainer, data: Dataset, batch: int) -> tuple[Callable[[], object], Callable[[], object]]:
    """One epoch, plain and private, of as many rows."""
    member, rate = np.ones((len(data), 1), dtype=bool), batch / len(data)
    how = Mechanism(1.0, rate, round(1 / rate), "automatic", 1.0)
    return (
        lambda: model.fit(data, member, [np.random.default_rng(0)]),
        lambda: trained(model, data, member, [np.random.default_rng(0)], how),
    )


def vision() -> None:
    for name, (model, size) in MODELS.items():
        data = pictures(size)
        plain, private = both(model, data, 64)
        net = model.fit(data, np.ones((PICTURES, 1), dtype=bool), [np.random.default_rng(0)])[0]
        assert isinstance(net, Differentiable)
        Z = Encoding(data.schema).encode(data.X[:256])
        times = fastest(plain, private, lambda: Z * net.gradient(Z, data.y[:256]))  # noqa: B023 (called at once)
        rates = [PICTURES / times[0], PICTURES / times[1], 256 / times[2]]
        print(
            f"{name:22} training {rates[0]:5.0f} pictures/s, private {rates[1]:5.0f}, ratio {times[1] / times[0]:.2f}; "
            f"input x gradient {rates[2]:5.0f} pictures/s"
        )


def small() -> None:
    model, data = MLP(hidden=(1000,), epochs=1, batch=BATCH), table()
    plain, private = both(model, data, BATCH)
    times = fastest(plain, private, ghost)
    for name, seconds in zip(("plain", "private, by formulas", "private, Opacus ghost"), times, strict=True):
        print(f"mlp 23-1000-2, {ROWS} rows: {name:22} {seconds:6.3f} s an epoch, ratio {seconds / times[0]:.2f}")


def ghost() -> None:
    """The same epoch by Opacus with ghost clipping."""
    from opacus.grad_sample import GradSampleModuleFastGradientClipping
    from opacus.optimizers import DPOptimizerFastGradientClipping
    from opacus.utils.fast_gradient_clipping_utils import DPLossFastGradientClipping

    torch.set_num_threads(1)
    data = table()
    Z, y = torch.tensor(data.X, dtype=torch.float32), torch.tensor(data.y)
    net = GradSampleModuleFastGradientClipping(
        torch.nn.Sequential(torch.nn.Linear(23, 1000), torch.nn.ReLU(), torch.nn.Linear(1000, 2)), max_grad_norm=1.0
    )
    adam = torch.optim.Adam(net.parameters(), lr=1e-3)
    noisy = DPOptimizerFastGradientClipping(adam, noise_multiplier=1.0, max_grad_norm=1.0, expected_batch_size=BATCH)
    loss = DPLossFastGradientClipping(net, noisy, torch.nn.CrossEntropyLoss(), loss_reduction="mean")
    for _ in range(round(ROWS / BATCH)):
        rows = torch.nonzero(torch.rand(ROWS) < BATCH / ROWS)[:, 0]
        noisy.zero_grad()
        loss(net(Z[rows]), y[rows]).backward()
        noisy.step()


if __name__ == "__main__":
    warnings.filterwarnings("ignore", "Full backward hook is firing")
    vision()
    small()
