"""The same network twice: ours in numpy, and a torch module for Captum."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import torch

from jali.core.encoding import Encoding
from jali.core.values import Column, Floats, Schema
from jali.models.fitted.network import Network
from jali.models.fitted.torch_network import TorchModel

SCHEMA = Schema(
    (*(Column(f"x{j}", centre=1.0, spread=2.0) for j in range(6)), Column("c", "category", categories=("a", "b", "c"))),
    classes=("0", "1", "2"),
)


def twins(hidden: tuple[int, ...] = (40, 20), seed: int = 0) -> tuple[Network, TorchModel]:
    """A random network for SCHEMA, in numpy and in torch."""
    rng, encoding = np.random.default_rng(seed), Encoding(SCHEMA)
    sizes = list(pairwise((len(encoding.source), *hidden, len(SCHEMA.classes))))
    weights = [(rng.normal(size=s) / np.sqrt(s[0])).astype(np.float32) for s in sizes]
    biases = [rng.normal(size=s[1]).astype(np.float32) / 2 for s in sizes]
    layers: list[torch.nn.Module] = []
    for W, b in zip(weights, biases, strict=True):
        layer = torch.nn.Linear(*W.shape)
        layer.load_state_dict({"weight": torch.tensor(W.T), "bias": torch.tensor(b)})
        layers += [layer, torch.nn.ReLU()]
    module = torch.nn.Sequential(*layers[:-1])
    return Network(encoding, tuple(weights), tuple(biases)), TorchModel(encoding, module)


def rows(n: int = 40, seed: int = 1) -> Floats:
    """Raw rows of SCHEMA."""
    rng = np.random.default_rng(seed)
    return np.column_stack([1 + 2 * rng.normal(size=(n, 6)), rng.integers(0, 3, n)])


def captum(method: type, model: TorchModel, X: Floats, **how: Any) -> Floats:
    """What Captum attributes to the predicted class of raw rows, one record at a time."""
    explainer, out = method(model.module), []
    for z in torch.tensor(model.encoding.encode(X), dtype=torch.float32):
        row = z[None].clone().requires_grad_()
        out.append(explainer.attribute(row, target=model.module(row).argmax(1), **how).detach().numpy()[0])
    return np.stack(out).astype(np.float64)
