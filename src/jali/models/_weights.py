"""Weights of a network from a safetensors file, which holds tensors and no code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jali.core import JaliError

if TYPE_CHECKING:
    import torch
    from torch import nn


def fill(net: nn.Sequential, path: Path) -> None:
    """Write the tensors of a file into a network; the head stays as it is where its shape differs.

    Names are those of the network's `state_dict()`, `body.…` and `head.…`. The first layer that does not fit is named.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    if not path.is_file():
        raise JaliError(f"There is no weight file {path}.")
    try:
        found = load_file(path)
    except (SafetensorError, OSError) as error:
        raise JaliError(f"{path} is not a readable safetensors file: {error}.") from None
    wanted = net.state_dict()
    _compare(path, found, {name: tensor for name, tensor in wanted.items() if name.startswith("body.")})
    extra = next((name for name in found if name not in wanted), None)
    if extra:
        raise JaliError(
            f"{path} holds layer {extra!r}, which this network does not have: choose another depth or model."
        )
    fits = {name: t.to(wanted[name].dtype) for name, t in found.items() if t.shape == wanted[name].shape}
    net.load_state_dict(wanted | fits)


def _compare(path: Path, found: dict[str, torch.Tensor], wanted: dict[str, torch.Tensor]) -> None:
    """Refuse a file whose tensors do not fit, and name the first of them."""
    for name, tensor in wanted.items():
        if name not in found:
            raise JaliError(
                f"{path} does not fit: layer {name!r} is not in it, whose first is {min(found, default='')!r}."
            )
        if found[name].shape != tensor.shape:
            raise JaliError(
                f"{path} does not fit: layer {name!r} has shape {tuple(found[name].shape)} there and "
                f"{tuple(tensor.shape)} in this network."
            )
