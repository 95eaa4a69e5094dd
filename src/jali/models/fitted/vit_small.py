"""The body of a vision transformer whose weights are public: images to the class token of its last layer.

Tensors have the names of timm, so that its weight files fit: pre-norm blocks with LayerScale (Touvron et al., Going
deeper with Image Transformers, 2021), as in DINOv2 (Oquab et al., 2023). Nothing here is trained.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from jali.core.errors import JaliError

if TYPE_CHECKING:
    import torch
    from torch import nn

HEAD = 64  # width of one attention head
PATCH = 14
MEAN, SPREAD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet, by channel, which the weights expect


def body(tensors: dict[str, torch.Tensor]) -> nn.Module:
    """The frozen body with these tensors; it maps colour images (n, 3, side, side) from 0 to 1 to features (n, width).

    The side of an image is a multiple of 14 pixels; positions are interpolated to its number of patches.
    """
    if "pos_embed" not in tensors or "patch_embed.proj.weight" not in tensors:
        raise JaliError("These are not the weights of a vision transformer with the names of timm.")
    depth = 1 + max(int(name.split(".")[1]) for name in tensors if name.startswith("blocks."))
    width, positions = tensors["cls_token"].shape[2], tensors["pos_embed"].shape[1]
    net = _body()(width, depth, positions)
    try:
        net.load_state_dict({name: tensor.float() for name, tensor in tensors.items()})
    except RuntimeError as error:
        raise JaliError(f"The weights do not fit a vision transformer: {str(error).splitlines()[-1].strip()}") from None
    frozen: nn.Module = net.eval().requires_grad_(False)
    return frozen


@functools.cache
def _block() -> Any:
    """The class of one layer; defined on first use, because torch takes seconds to import."""
    import torch
    from torch import nn
    from torch.nn.functional import scaled_dot_product_attention

    class Attention(nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.qkv = nn.Linear(width, 3 * width)
            self.proj = nn.Linear(width, width)

        def forward(self, tokens: torch.Tensor) -> torch.Tensor:
            n, count, width = tokens.shape
            q, k, v = self.qkv(tokens).view(n, count, 3, width // HEAD, HEAD).permute(2, 0, 3, 1, 4)
            seen = scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(n, count, width)
            out: torch.Tensor = self.proj(seen)
            return out

    class Hidden(nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.fc1 = nn.Linear(width, 4 * width)
            self.fc2 = nn.Linear(4 * width, width)

        def forward(self, tokens: torch.Tensor) -> torch.Tensor:
            out: torch.Tensor = self.fc2(nn.functional.gelu(self.fc1(tokens)))
            return out

    class Scale(nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.gamma = nn.Parameter(torch.ones(width))

        def forward(self, tokens: torch.Tensor) -> torch.Tensor:
            return tokens * self.gamma

    class Block(nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width, 1e-6), nn.LayerNorm(width, 1e-6)
            self.attn, self.mlp = Attention(width), Hidden(width)
            self.ls1, self.ls2 = Scale(width), Scale(width)

        def forward(self, tokens: torch.Tensor) -> torch.Tensor:
            tokens = tokens + self.ls1(self.attn(self.norm1(tokens)))
            out: torch.Tensor = tokens + self.ls2(self.mlp(self.norm2(tokens)))
            return out

    return Block


@functools.cache
def _body() -> Any:
    """The class of the body."""
    import torch
    from torch import nn
    from torch.nn.functional import interpolate

    layer = _block()

    class Patches(nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.proj = nn.Conv2d(3, width, PATCH, PATCH)

        def forward(self, images: torch.Tensor) -> torch.Tensor:
            return self.proj(images).flatten(2).transpose(1, 2)  # type: ignore[no-any-return]

    class Body(nn.Module):
        def __init__(self, width: int, depth: int, positions: int) -> None:
            super().__init__()
            self.patch_embed = Patches(width)
            self.cls_token = nn.Parameter(torch.zeros(1, 1, width))
            self.pos_embed = nn.Parameter(torch.zeros(1, positions, width))
            self.blocks = nn.Sequential(*(layer(width) for _ in range(depth)))
            self.norm = nn.LayerNorm(width, 1e-6)

        def positions(self, across: int) -> torch.Tensor:
            """Positions (1, 1 + across ** 2, width): of the class token, and of the patches by interpolation."""
            first, grid = self.pos_embed[:, :1], self.pos_embed[:, 1:]
            side = round(grid.shape[1] ** 0.5)
            if side == across:
                return self.pos_embed
            square = grid.view(1, side, side, -1).permute(0, 3, 1, 2)
            fitted = interpolate(square, (across, across), mode="bicubic", align_corners=False)
            return torch.cat([first, fitted.permute(0, 2, 3, 1).reshape(1, across * across, -1)], dim=1)

        def forward(self, images: torch.Tensor) -> torch.Tensor:
            mean, spread = (torch.tensor(numbers).view(1, 3, 1, 1) for numbers in (MEAN, SPREAD))
            patches = self.patch_embed((images - mean) / spread)
            tokens = torch.cat([self.cls_token.expand(len(images), -1, -1), patches], dim=1)
            tokens = tokens + self.positions(images.shape[-1] // PATCH)
            out: torch.Tensor = self.norm(self.blocks(tokens))[:, 0]
            return out

    return Body
