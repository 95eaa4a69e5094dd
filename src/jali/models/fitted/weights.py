"""Weights of a network from a safetensors file, which holds tensors and no code."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from jali.core.errors import JaliError

if TYPE_CHECKING:
    import torch
    from torch import nn


def digest(path: Path) -> str:
    """SHA-256 of a weight file."""
    return hashlib.sha256(_read(path)).hexdigest()


def fill(net: nn.Sequential, path: Path, sha256: str) -> None:
    """Write the tensors of a file with this sha256 into the body of a network; the head does not change.

    Names are those of the network's `state_dict()`, `body.…` and `head.…`. The error names the first layer that does
    not fit.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load

    raw = _read(path)
    if (now := hashlib.sha256(raw).hexdigest()) != sha256.lower():
        raise JaliError(
            f"{path} is not the expected weight file: its sha256 starts with {now[:12]}, not {sha256[:12]}."
        )
    try:
        found = load(raw)
    except SafetensorError as error:
        raise JaliError(f"{path} is not a readable safetensors file: {error}.") from None
    wanted = net.state_dict()
    body = {name: tensor for name, tensor in wanted.items() if name.startswith("body.")}
    _compare(path, found, body)
    extra = next((name for name in found if name not in wanted), None)
    if extra:
        raise JaliError(
            f"{path} contains layer {extra!r}, which this network does not have: choose another depth or model."
        )
    net.load_state_dict(wanted | {name: found[name].to(tensor.dtype) for name, tensor in body.items()})


def _read(path: Path) -> bytes:
    path = path.expanduser()
    if not path.is_file():
        raise JaliError(f"There is no weight file {path}.")
    try:
        return path.read_bytes()
    except OSError as error:
        raise JaliError(f"Cannot read {path}: {error.strerror or error}.") from None


def _compare(path: Path, found: dict[str, torch.Tensor], wanted: dict[str, torch.Tensor]) -> None:
    """Raise if the tensors of a file do not fit, naming the first that does not."""
    for name, tensor in wanted.items():
        if name not in found:
            raise JaliError(
                f"{path} does not fit: it has no layer {name!r}; its first layer is {min(found, default='')!r}."
            )
        if found[name].shape != tensor.shape:
            raise JaliError(
                f"{path} does not fit: layer {name!r} has shape {tuple(found[name].shape)} in the file and "
                f"{tuple(tensor.shape)} in this network."
            )
