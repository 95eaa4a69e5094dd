"""Small convolutional networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jali.core.errors import JaliError
from jali.core.values import Bools, Dataset, Rng, Schema
from jali.models.fitted.descent import Start, fitted, image_shape, joined, positive, seeded
from jali.models.fitted.torch_network import TorchEnsemble

if TYPE_CHECKING:
    from torch import nn

STAGES = 3  # at most
LEAST = 4  # pixels of the shorter side after the last pooling
GROUPS = 4  # of channels in group norm


@dataclass(frozen=True)
class ConvNet:
    """A convolutional network: three stages of 3 × 3 convolution, group norm, ReLU and 2 × 2 max pooling.

    Pooling stops before the image gets smaller than 4 pixels. The first stage has `width` channels, each next one twice
    as many; one linear layer then gives the logits. Group norm works on the channels of one image (Wu and He, Group
    Normalization, 2018), never on a batch, so no image's output depends on another image, and the network can be
    trained with differential privacy. Adam, with a step size that rises to `lr` over a tenth of the steps and then
    falls to zero.

    >>> ConvNet(width=8, epochs=5)
    ConvNet(width=8, epochs=5, lr=0.003, batch=64)
    """

    width: int = 16
    epochs: int = 15
    lr: float = 3e-3
    batch: int = 64

    def __post_init__(self) -> None:
        positive(self, width=self.width)
        if self.width % GROUPS:
            raise JaliError(f"convnet: width must be a multiple of {GROUPS}, not {self.width}.")

    def fit(self, data: Dataset, member: Bools, rngs: list[Rng]) -> TorchEnsemble:
        """Train one network per column of member (N, M); column j draws from rngs[j] alone."""
        return fitted(self, data, member, rngs)

    def network(self, schema: Schema) -> nn.Sequential:
        """A network for these images, with weights drawn from torch's global generator."""
        from torch import nn

        image = image_shape("convnet", schema)
        layers: list[nn.Module] = [nn.Unflatten(1, image)]
        channels, height, width = image
        for stage in range(STAGES):
            wide = self.width * 2**stage
            layers += [nn.Conv2d(channels, wide, 3, padding=1), nn.GroupNorm(GROUPS, wide), nn.ReLU()]
            channels = wide
            if min(height, width) >= 2 * LEAST:
                layers.append(nn.MaxPool2d(2))
                height, width = height // 2, width // 2
        return joined([*layers, nn.Flatten()], nn.Linear(channels * height * width, len(schema.classes)))

    def starts(self, schema: Schema) -> Start:
        """The network that training starts from, by seed."""
        return lambda seed: seeded(seed, lambda: self.network(schema))
