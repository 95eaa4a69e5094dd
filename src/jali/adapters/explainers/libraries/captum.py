"""The captum library: gradients of networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from jali.adapters.explainers.libraries._made import imported, made, on_numbers
from jali.adapters.explainers.own import Ready
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.explanation import Gives, Wants
from jali.core.protocols import Linear, Model, model_name
from jali.core.values import Dataset, Rng, Schema
from jali.explain.native.capability import differentiable
from jali.models.fitted.network import Network
from jali.models.fitted.torch_network import TorchModel


@dataclass(frozen=True)
class Captum:
    """Attributions as the captum library computes them, for the logit of the predicted class, by encoded feature.

    method: a class of captum.attr. Baselines are the public centre of the schema. `integrated_gradients`, `saliency`
    and others of this package need no torch.

    Kokhlikyan et al., Captum: A unified and generic model interpretability library for PyTorch, 2020.

    >>> Captum(method="Saliency")
    Captum(method='Saliency')
    """

    method: Literal["IntegratedGradients", "InputXGradient", "Saliency", "DeepLift"] = "IntegratedGradients"
    gives: ClassVar[Gives] = "attribution"
    wants: ClassVar[Wants] = "gradient"
    reads_training_data: ClassVar[bool] = False

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> Ready:  # noqa: ARG002
        """Build the library's method on the model as a torch module."""
        able = differentiable("captum", model, schema)
        attr = imported("captum.attr", "captum", "torch")
        view = on_numbers(model, schema, Encoding(schema).encode)
        return made("captum", "attribution", view, getattr(attr, self.method)(_module(able)), None)


def _module(model: Any) -> Any:
    """A linear model or a network as a torch module of encoded rows (n, P)."""
    if isinstance(model, TorchModel):
        return model.module
    if isinstance(model, Network):
        return _layers(model.weights, model.biases)
    if isinstance(model, Linear):
        return _layers((model.coef,), (model.intercept,))
    raise JaliError(f"captum needs a linear model or a network, and {model_name(model)} is neither: use saliency.")


def _layers(weights: Any, biases: Any) -> Any:
    """ReLU layers from weights (in, out) and biases (out,)."""
    import torch
    from torch import nn

    out: list[Any] = []
    for W, b in zip(weights, biases, strict=True):
        layer = nn.Linear(*W.shape)
        arrays = {"weight": W.T, "bias": b}
        layer.load_state_dict({name: torch.tensor(np.array(a, dtype=np.float32)) for name, a in arrays.items()})
        out += [layer, nn.ReLU()]
    return nn.Sequential(*out[:-1]).requires_grad_(False)
