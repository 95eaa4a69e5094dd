"""Noisy gradient steps on clipped per-row gradients, with Opacus."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from jali.core.errors import JaliError
from jali.models.fitted.descent import Architecture, Rows, pace, reduced
from jali.privacy.mechanisms import released

if TYPE_CHECKING:
    import torch
    from torch import nn

Clipping = Literal["automatic", "flat"]
GAMMA = 0.01  # keeps gradients near zero from being scaled up to length one
FEW = 32  # rows whose gradients, each as large as the network, are held at once; more would not fit into the cache
MECHANISM = "weights trained on noisy sums"


@dataclass(frozen=True)
class Mechanism:
    """How rows are sampled, how gradients are clipped, and how much noise is added to their sum."""

    multiplier: float
    rate: float
    steps: int
    clipping: Clipping
    norm: float

    @property
    def bound(self) -> float:
        """The largest norm of a clipped gradient, which is the sensitivity of the sum."""
        return 1.0 if self.clipping == "automatic" else self.norm

    def batches(self, n: int, stream: torch.Generator) -> Iterator[torch.Tensor]:
        """The rows of each step; each row is drawn independently with probability `rate`, so a step may have none."""
        import torch

        for _ in range(self.steps):
            yield torch.nonzero(torch.rand(n, generator=stream) < self.rate)[:, 0]

    def factors(self, norms: torch.Tensor) -> torch.Tensor:
        """The factors (n,) that clip gradients of these norms: 1 / (norm + 0.01), or min(1, bound / norm)."""
        if self.clipping == "automatic":
            return 1 / (norms + GAMMA)
        return (self.norm / norms.clamp(min=1e-12)).clamp(max=1.0)


def descend(
    module: nn.Sequential, rows: Rows, part: Architecture, stream: torch.Generator, mechanism: Mechanism
) -> None:
    """Train the parameters that require gradients by Adam on noisy sums of clipped gradients, divided by `batch`."""
    import torch
    from torch.nn.utils import parameters_to_vector, vector_to_parameters

    suitable(module)
    chosen = [p for p in module.parameters() if p.requires_grad]

    def weights() -> Any:
        _train(*reduced(module, rows), part, stream, mechanism)
        return parameters_to_vector(chosen).detach().double().numpy()

    flat = released(MECHANISM, weights, multiplier=mechanism.multiplier)
    vector_to_parameters(torch.from_numpy(flat.astype(np.float32)), chosen)


def _train(net: nn.Module, rows: Rows, part: Architecture, stream: torch.Generator, mechanism: Mechanism) -> None:
    """Take all noisy steps."""
    import torch

    chosen = [p for p in net.parameters() if p.requires_grad]
    adam = torch.optim.Adam(chosen, lr=part.lr, fused=True)
    with _per_row(net) as wrapped:
        noisy = _optimiser()(adam, mechanism, stream)
        for step, some in enumerate(mechanism.batches(len(rows), stream)):
            pace(adam, part.lr, step / mechanism.steps)
            clipped(wrapped, noisy, rows.pick(some))
            noisy.add_noise()
            for p in noisy.params:
                p.grad /= part.batch
            adam.step()
            noisy.zero_grad()


def clipped(wrapped: Any, noisy: Any, rows: Rows) -> None:
    """Write the sum of the clipped gradients of rows into each parameter's `summed_grad`; zero if there are no rows."""
    import torch

    for p in noisy.params:
        p.summed_grad = torch.zeros_like(p)
    for some in torch.split(torch.arange(len(rows)), FEW) if len(rows) else ():
        few = rows.pick(some)
        torch.nn.functional.cross_entropy(wrapped(few.Z), few.y, reduction="sum").backward()  # type: ignore[no-untyped-call]
        noisy.clip_and_accumulate()
        for p in noisy.params:
            p.grad_sample = None


def suitable(module: nn.Module) -> None:
    """Refuse layers that mix rows, so that a gradient does not belong to one row, and name a replacement."""
    from torch import nn

    for name, layer in module.named_modules():
        if isinstance(layer, nn.modules.batchnorm._BatchNorm):
            raise JaliError(
                f"dp_sgd: layer {name!r} is {type(layer).__name__}, which mixes the rows of a batch, so that no "
                f"gradient belongs to one record: replace it by GroupNorm(…, {layer.num_features})."
            )
        if isinstance(layer, nn.modules.instancenorm._InstanceNorm) and layer.track_running_stats:
            raise JaliError(f"dp_sgd: layer {name!r} keeps running statistics without noise: turn them off.")


# --- Opacus --------------------------------------------------------------------------------------------------------


@contextmanager
def _per_row(net: nn.Module) -> Iterator[Any]:
    """The network with per-row gradients; its hooks are removed at the end."""
    _samplers()
    from opacus import GradSampleModule

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Full backward hook is firing", UserWarning)
        wrapped = GradSampleModule(net.train(), loss_reduction="sum")
        try:
            yield wrapped
        finally:
            wrapped.to_standard_module()


@functools.cache
def _optimiser() -> Any:
    """Opacus's optimiser class with our clipping; defined on first use, because importing Opacus takes seconds."""
    import torch
    from opacus.optimizers import DPOptimizer

    class Noisy(DPOptimizer):  # type: ignore[misc]
        """Sums of gradients, each multiplied by a factor that depends on its norm, plus Gaussian noise."""

        def __init__(self, adam: torch.optim.Optimizer, mechanism: Mechanism, stream: torch.Generator) -> None:
            super().__init__(
                adam,
                noise_multiplier=mechanism.multiplier,
                max_grad_norm=mechanism.bound,
                expected_batch_size=None,
                loss_reduction="sum",
                generator=stream,
            )
            self.mechanism = mechanism

        def clip_and_accumulate(self) -> None:
            """Add the clipped gradients of the rows just seen to `summed_grad`."""
            rows = [gradient.reshape(len(gradient), -1) for gradient in self.grad_samples]
            norms = torch.stack([torch.linalg.vector_norm(row, dim=1) for row in rows])
            lengths = torch.linalg.vector_norm(norms, dim=0)
            # A row whose gradient overflows is left out: infinity plus noise would not be private.
            if not bool((known := lengths.isfinite()).all()):
                rows = [row[known] for row in rows]
                lengths = lengths[known]
            factors = self.mechanism.factors(lengths)
            for p, row in zip(self.params, rows, strict=True):
                p.summed_grad += (factors @ row).view_as(p)

    return Noisy


@functools.cache
def _samplers() -> None:
    """Register per-row gradients of the embeddings of transformers' ViT; the fallback of Opacus is slower."""
    try:
        from opacus.grad_sample import register_grad_sampler
    except ImportError:
        raise JaliError("dp_sgd needs opacus, which is not installed: pip install 'jali-audit[private]'.") from None
    try:
        from transformers.models.vit.modeling_vit import ViTEmbeddings
    except ImportError:
        return

    def embeddings(layer: Any, activations: Any, backprops: torch.Tensor) -> dict[Any, torch.Tensor]:  # noqa: ARG001
        """Per-row gradients: positions are added to all tokens (n, t, width), the class token to the first."""
        found = {layer.position_embeddings: backprops[:, None], layer.cls_token: backprops[:, None, :1]}
        return {p: gradient for p, gradient in found.items() if p.requires_grad}

    register_grad_sampler(ViTEmbeddings)(embeddings)
