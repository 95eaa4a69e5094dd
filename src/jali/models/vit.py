"""Vision transformers."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jali.core.errors import JaliError
from jali.core.values import Bools, Dataset, Rng, Schema
from jali.models.fitted.descent import Start, fitted, image_shape, joined, positive, seeded
from jali.models.fitted.torch_network import TorchEnsemble

if TYPE_CHECKING:
    from torch import nn

HEAD = 32  # width of one attention head


@dataclass(frozen=True)
class ViT:
    """A vision transformer: images cut into patches of `patch` × `patch` pixels, and `depth` blocks of width `width`.

    The ViT of the transformers library without dropout, its hidden layers twice as wide as `width`; one linear layer
    from the class token to the logits. Adam, with a step size that rises to `lr` over a tenth of the steps and then
    falls to zero. Trained from scratch it needs many images; `fine_tuned(vit(), public=…)` starts from public ones.

    Dosovitskiy et al., An Image is Worth 16x16 Words, ICLR 2021.

    >>> ViT(depth=2).width
    96
    """

    patch: int = 4
    width: int = 96
    depth: int = 4
    epochs: int = 30
    lr: float = 1e-3
    batch: int = 64

    def __post_init__(self) -> None:
        positive(self, patch=self.patch, width=self.width, depth=self.depth)
        if self.width % HEAD:
            raise JaliError(f"vit: width must be a multiple of {HEAD}, not {self.width}.")

    def fit(self, data: Dataset, member: Bools, rngs: list[Rng]) -> TorchEnsemble:
        """Train one network per column of member (N, M); column j draws from rngs[j] alone."""
        return fitted(self, data, member, rngs)

    def network(self, schema: Schema) -> nn.Sequential:
        """A network for these images, with weights drawn from torch's global generator."""
        from torch import nn

        channels, height, width = image_shape("vit", schema)
        if height != width or height % self.patch:
            raise JaliError(
                f"vit cuts square images into patches of {self.patch} pixels, but these are {height} by {width}: "
                "choose a patch that divides the side, or another image size."
            )
        body = _encoder()(self.width, self.depth, self.patch, height, channels)
        return joined([nn.Unflatten(1, (channels, height, width)), body], nn.Linear(self.width, len(schema.classes)))

    def starts(self, schema: Schema) -> Start:
        """The network that training starts from, by seed."""
        return lambda seed: seeded(seed, lambda: self.network(schema))


@functools.cache
def _encoder() -> Any:
    """The class of the network's body; defined on first use, because its libraries take seconds to import."""
    try:
        from transformers import ViTConfig, ViTModel
    except ImportError:
        raise JaliError("vit needs transformers, which is not installed: pip install 'jali-audit[vision]'.") from None
    import torch
    from torch import nn

    class Encoder(nn.Module):
        """Maps images (n, channels, side, side) to their class tokens (n, width)."""

        def __init__(self, width: int, depth: int, patch: int, side: int, channels: int) -> None:
            super().__init__()
            config = ViTConfig(
                hidden_size=width,
                num_hidden_layers=depth,
                num_attention_heads=width // HEAD,
                intermediate_size=2 * width,
                hidden_dropout_prob=0.0,
                attention_probs_dropout_prob=0.0,
                image_size=side,
                patch_size=patch,
                num_channels=channels,
            )
            self.vit = ViTModel(config, add_pooling_layer=False)

        def forward(self, images: torch.Tensor) -> torch.Tensor:
            tokens: torch.Tensor = self.vit(images).last_hidden_state
            return tokens[:, 0]

    return Encoder
