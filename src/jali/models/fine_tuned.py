"""Networks that are trained on public images first and then fine-tuned on the private rows."""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from jali.core import registry
from jali.core.errors import JaliError
from jali.core.protocols import Source, Trainer
from jali.core.values import Bools, Dataset, Rng, Schema
from jali.models.fitted import descent, torch_network
from jali.models.fitted.descent import Architecture, Start, descend, fitted, positive, seeded, tensors
from jali.models.fitted.torch_network import TorchEnsemble
from jali.models.fitted.weights import digest, fill
from jali.store import Arrays, Store

if TYPE_CHECKING:
    import torch
    from torch import nn

SEED = 0  # of public training, which is the same in every audit
REACH = 8  # public images are shifted by at most 1 / REACH of their side


@dataclass(frozen=True)
class FineTuned:
    """Networks of `model` with a pre-trained body and a new head, fine-tuned on the private rows.

    The body comes from `model` trained on the data set `public` with its own epochs and step size, on images that are
    mirrored and shifted at random; or from a safetensors file `weights`. Then all layers, or only the head on fixed
    features, are trained on the private rows for `epochs` with a step size of up to `lr`. Public training is done once
    and kept in the user's cache under a content key. `sha256` is the hash of the weight file, computed where it is not
    given: models are stored under it, and a weight file whose content has changed is refused.

    The training procedure of Huang, Pawelczyk and Lakkaraju, 2024, with a smaller network and available public data.

    >>> from jali.data.digits import Digits
    >>> from jali.models.convnet import ConvNet
    >>> FineTuned(ConvNet(), public=Digits()).layers
    'all'
    """

    model: Trainer
    public: Source | None = None
    weights: str = ""
    layers: Literal["all", "head"] = "all"
    epochs: int = 10
    lr: float = 5e-4
    sha256: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.model, Architecture):
            name = registry.name_of(self.model)
            raise JaliError(f"fine_tuned: model must be a torch network, such as vit or convnet, not {name}.")
        if (self.public is None) == (not self.weights):
            raise JaliError("fine_tuned starts from public data or from a weight file: give either public or weights.")
        if self.sha256 and not self.weights:
            raise JaliError(
                "fine_tuned: sha256 is the hash of a weight file, but weights is not given: leave sha256 out."
            )
        positive(self)
        if self.weights and not self.sha256:
            object.__setattr__(self, "sha256", digest(Path(self.weights)))

    @property
    def batch(self) -> int:
        """Rows per step, as in public training."""
        return self._inner.batch

    @property
    def _inner(self) -> Architecture:
        assert isinstance(self.model, Architecture)
        return self.model

    def fit(self, data: Dataset, member: Bools, rngs: list[Rng]) -> TorchEnsemble:
        """Train one network per column of member (N, M); column j draws from rngs[j] alone."""
        return fitted(self, data, member, rngs)

    def network(self, schema: Schema) -> nn.Sequential:
        """A network for these rows, with weights drawn from torch's global generator."""
        return self._inner.network(schema)

    def starts(self, schema: Schema) -> Start:
        """A public body, which is trained or loaded once, and a head drawn from a seed."""
        body = None if self.public is None else _body(self._inner, self.public, schema.image)

        def start(seed: int) -> nn.Sequential:
            net = seeded(seed, lambda: self.network(schema))
            if body is None:
                fill(net, Path(self.weights), self.sha256)
            else:
                torch_network.load(net[0], body)
            net[0].requires_grad_(self.layers == "all")
            return net

        return start


def _body(model: Architecture, public: Source, image: tuple[int, int, int] | None) -> list[Any]:
    """Tensors of the body of a network trained on public data, taken from the user's cache if present."""
    data = public.load()
    if data.schema.image != image:
        raise JaliError(
            f"fine_tuned: the public images are {data.schema.image} and the private ones {image}: give both the "
            "same size."
        )
    cache, key = Store(_folder()), _key(model, data)
    kept = cache.load(key)
    if kept is None:
        kept = _trained(model, data)
        cache.save(key, kept)
    return [kept[name] for name in sorted(kept)]


def _trained(model: Architecture, data: Dataset) -> Arrays:
    with torch_network.one_thread("fine_tuned"):
        import torch

        net = model.starts(data.schema)(SEED)
        varied = functools.partial(_varied, image=data.schema.image)
        descend(net, tensors(data), model, torch.Generator().manual_seed(SEED), varied)
        descent.finite("fine_tuned", model.lr, net)
    return {f"state{i:03}": tensor for i, tensor in enumerate(torch_network.state(net[0]))}


def _varied(z: torch.Tensor, stream: torch.Generator, image: tuple[int, int, int] | None) -> torch.Tensor:
    """Encoded rows whose images are shifted and, with probability 1/2, mirrored; rows without images unchanged."""
    import torch

    if image is None:
        return z
    n = len(z)
    height, width = image[1:]
    reach = min(height, width) // REACH
    left = torch.arange(width).expand(n, width)
    left = torch.where(torch.rand(n, 1, generator=stream) < 0.5, left, left.flip(1))
    down, across = torch.randint(-reach, reach + 1, (2, n, 1), generator=stream)
    rows = (torch.arange(height) + down).clamp(0, height - 1)
    columns = (left + across).clamp(0, width - 1)
    images = z.view(n, *image)[torch.arange(n)[:, None, None], :, rows[:, :, None], columns[:, None, :]]
    return images.permute(0, 3, 1, 2).reshape(n, -1)


def _key(model: Architecture, data: Dataset) -> str:
    """Content key of public training: the network, the images, the code and the libraries that train it."""
    code = [inspect.getsource(module) for module in (inspect.getmodule(type(model)), descent) if module]
    code += [inspect.getsource(function) for function in (_trained, _varied)]
    versions = [metadata.version(name) for name in ("torch", "transformers") if _there(name)]
    made = hashlib.sha256(repr((registry.spec(model, every=True), code, versions, data.schema)).encode())
    made.update(np.ascontiguousarray(data.X, dtype=np.float32).tobytes() + data.y.tobytes())
    return made.hexdigest()


def _there(package: str) -> bool:
    return any(metadata.distributions(name=package))


def _folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jali" / "public"
