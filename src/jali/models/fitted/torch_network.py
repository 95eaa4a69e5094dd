"""Torch networks as models: evaluated in blocks of rows, stored as plain arrays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from jali.core import registry
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Floats, Ints
from jali.models.fitted.linear import lead

if TYPE_CHECKING:
    from torch import nn

BLOCK = 64  # rows per forward pass, which bounds the memory


@contextmanager
def one_thread(name: str) -> Iterator[None]:
    """Limit torch to one thread: work is spread over processes, and sums split over threads change the last bits."""
    try:
        import torch
    except ImportError:
        raise JaliError(f"{name} needs torch, which is not installed: pip install 'jali-audit[torch]'.") from None
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@dataclass(frozen=True, eq=False)
class TorchModel:
    """One network: `module` maps encoded rows (n, P) to logits (n, C).

    >>> import torch
    >>> from jali.core.values import Column, Schema
    >>> net = torch.nn.Linear(1, 2)
    >>> _ = net.load_state_dict({"weight": torch.tensor([[0.0], [2.0]]), "bias": torch.zeros(2)})
    >>> model = TorchModel(Encoding(Schema((Column("x", centre=1.0),))), net)
    >>> model.logits(np.array([[4.0]])), model.gradient(np.array([[3.0]]), np.array([1]))
    (array([[0., 6.]]), array([[2.]]))
    """

    encoding: Encoding
    module: nn.Module

    def __post_init__(self) -> None:
        self.module.eval().requires_grad_(False)

    def logits(self, X: Floats) -> Floats:
        """Class scores (n, C) of raw rows (n, D)."""
        schema = self.encoding.schema
        if X.ndim != 2 or X.shape[1] != len(schema.columns):
            shape = f" (images of {schema.image})" if schema.image else ""
            raise JaliError(f"The network takes rows of {len(schema.columns)} columns{shape}, not {X.shape}.")
        return self._scores(len(X), lambda some: self.encoding.encode(X[some]))

    def gradient(self, Z: Floats, of: Ints) -> Floats:
        """Gradient (n, P) of the logit of class of (n,) at encoded rows Z (n, P)."""
        return self._slopes(Z, np.eye(len(self.encoding.schema.classes))[np.broadcast_to(of, len(Z))])[1]

    def margin(self, Z: Floats, of: Ints) -> tuple[Floats, Floats]:
        """Logit of class of (n,) minus the best other one, (n,), and its gradient (n, P) at encoded rows Z (n, P)."""
        one = np.eye(len(self.encoding.schema.classes))
        rival = lead(self._scores(len(Z), lambda some: Z[some]), of)[1]
        return self._slopes(Z, one[of] - one[rival])

    def _scores(self, n: int, encoded: Callable[[slice], Floats]) -> Floats:
        """Logits (n, C) of n rows, which `encoded` encodes block by block."""
        import torch

        out = np.empty((n, len(self.encoding.schema.classes)))
        with one_thread("A network"), torch.no_grad():
            for some in _blocks(n):
                out[some] = self.module(torch.from_numpy(encoded(some).astype(np.float32))).numpy()
        return out

    def _slopes(self, Z: Floats, weight: Floats) -> tuple[Floats, Floats]:
        """Sums (n,) of logits weighted by (n, C), and their gradients (n, P)."""
        import torch

        value, slope = np.empty(len(Z)), np.empty(Z.shape)
        with one_thread("A network"), torch.enable_grad():
            for some in _blocks(len(Z)):
                z = torch.from_numpy(Z[some].astype(np.float32)).requires_grad_()
                sums = (self.module(z) * torch.from_numpy(weight[some].astype(np.float32))).sum(dim=1)
                value[some] = sums.detach().numpy()
                slope[some] = torch.autograd.grad(sums.sum(), z)[0].numpy()
        return value, slope


@dataclass(frozen=True, eq=False)
class TorchEnsemble:
    """M networks of one architecture, given as the specification of the trainer that builds them."""

    encoding: Encoding
    modules: tuple[nn.Module, ...]
    architecture: str

    def __len__(self) -> int:
        return len(self.modules)

    def __getitem__(self, column: int) -> TorchModel:
        return TorchModel(self.encoding, self.modules[column])

    def logits(self, X: Floats) -> Floats:
        """Class scores (n, M, C) of raw rows (n, D)."""
        return np.stack([self[j].logits(X) for j in range(len(self))], axis=1)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Everything `restored` needs; the first axis is the model."""
        states = [state(module) for module in self.modules]
        named = {f"state{i:03}": np.stack(arrays) for i, arrays in enumerate(zip(*states, strict=True))}
        return {"architecture": np.array([self.architecture] * len(self)), **named}


def restored(
    arrays: Mapping[str, npt.NDArray[Any]], encoding: Encoding, modules: Collection[str] = ()
) -> TorchEnsemble:
    """The ensemble that was saved as these arrays; the trainer they name must be in one of these modules, or in jali.

    Tensors are identified by their order, because libraries rename their layers from one version to the next.
    """
    text = str(arrays["architecture"][0])
    names = sorted(name for name in arrays if name.startswith("state"))
    part = registry.build("model", text, modules)
    networks: list[nn.Module] = []
    with one_thread("A network"):
        import torch

        with torch.random.fork_rng(
            devices=[]
        ):  # building a network draws from torch's global generator, whose state must not change
            for j in range(len(arrays["architecture"])):
                networks.append(part.network(encoding.schema))
                load(networks[-1], [arrays[name][j] for name in names])
    return TorchEnsemble(encoding, tuple(networks), text)


def state(module: nn.Module) -> list[npt.NDArray[Any]]:
    """The tensors of a network, in its own order."""
    return [tensor.detach().numpy() for tensor in module.state_dict().values()]


def load(module: nn.Module, tensors: list[npt.NDArray[Any]]) -> None:
    """Write tensors into a network, in its own order."""
    import torch

    module.load_state_dict({n: torch.tensor(t) for n, t in zip(module.state_dict(), tensors, strict=True)})


def _blocks(n: int) -> list[slice]:
    return [slice(at, at + BLOCK) for at in range(0, n, BLOCK)]
