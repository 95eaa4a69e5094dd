"""Training of torch networks: Adam on cross-entropy, with warm-up and decay, and a random stream per network."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from jali.core import registry
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Bools, Dataset, Ints, Rng, Schema
from jali.models.fitted.membership_check import checked, streamed
from jali.models.fitted.torch_network import BLOCK, TorchEnsemble, one_thread

if TYPE_CHECKING:
    import torch
    from torch import nn

Made = TypeVar("Made")
Start = Callable[[int], "nn.Sequential"]  # the network that training starts from, by seed
WARM = 0.1  # share of the steps in which the step size rises (warm-up)
CHUNK = 1024  # rows that are encoded together


@runtime_checkable
class Architecture(Protocol):
    """A trainer of torch networks that differentially private training and fine-tuning can wrap.

    A network is a sequence of two: `body`, from encoded rows (n, P) to features, and `head`, to logits (n, C).
    """

    @property
    def epochs(self) -> int:
        """Passes over the rows."""

    @property
    def lr(self) -> float:
        """Largest step size of Adam."""

    @property
    def batch(self) -> int:
        """Rows per step."""

    def network(self, schema: Schema) -> nn.Sequential:
        """A network for these rows, with weights drawn from torch's global generator."""

    def starts(self, schema: Schema) -> Start:
        """The network that training starts from, by seed; only the layers to be trained require gradients.

        Called once per fit: what all networks have in common is made here.
        """


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows (n, P) and labels (n,) as tensors."""

    Z: torch.Tensor
    y: torch.Tensor

    def __len__(self) -> int:
        return len(self.y)

    def pick(self, which: torch.Tensor | Ints) -> Rows:
        """The chosen rows."""
        return Rows(self.Z[which], self.y[which])


Train = Callable[["nn.Sequential", Rows, Architecture, "torch.Generator"], None]


def fitted(
    part: Architecture, data: Dataset, member: Bools, rngs: list[Rng], train: Train | None = None
) -> TorchEnsemble:
    """One network per training set in member (N, M); each has a random stream for its weights and one for training.

    train: how, where it is not plain descent. Private training must not refuse a training set for what is in it.
    """
    member = checked(data, member, rngs) if train is None else streamed(data, member, rngs)
    name = registry.name_of(part)
    modules = []
    with one_thread(name):
        import torch

        rows = tensors(data)
        start = part.starts(data.schema)
        for mine, rng in zip(member.T, rngs, strict=True):
            first, second = (int(seed) for seed in rng.integers(2**63, size=2))
            module = start(first)
            (train or descend)(module, rows.pick(np.flatnonzero(mine)), part, torch.Generator().manual_seed(second))
            finite(name, part.lr, module)
            modules.append(module)
    return TorchEnsemble(Encoding(data.schema), tuple(modules), registry.spec(part, every=True))


def descend(
    module: nn.Sequential,
    rows: Rows,
    part: Architecture,
    stream: torch.Generator,
    change: Callable[[torch.Tensor, torch.Generator], torch.Tensor] | None = None,
) -> None:
    """Train the layers that require gradients, by Adam on cross-entropy; `change` augments the rows of each batch."""
    import torch

    net, rows = reduced(module, rows)
    net.train()
    adam = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=part.lr, fused=True)
    steps = part.epochs * math.ceil(len(rows) / part.batch)
    for step, some in enumerate(_batches(len(rows), part, stream)):
        pace(adam, part.lr, step / steps)
        batch = rows.pick(some)
        adam.zero_grad()
        out = net(batch.Z if change is None else change(batch.Z, stream))
        torch.nn.functional.cross_entropy(out, batch.y).backward()  # type: ignore[no-untyped-call]
        adam.step()


def _batches(n: int, part: Architecture, stream: torch.Generator) -> Iterator[torch.Tensor]:
    import torch

    for _ in range(part.epochs):
        yield from torch.split(torch.randperm(n, generator=stream), part.batch)


def pace(adam: torch.optim.Optimizer, lr: float, done: float) -> None:
    """Step size when a share of the steps is done: it rises to `lr` over the first tenth and falls to zero."""
    for group in adam.param_groups:
        group["lr"] = lr * min(1.0, (done + 1e-3) / WARM) * (1 - done)


def reduced(module: nn.Sequential, rows: Rows) -> tuple[nn.Module, Rows]:
    """The module to train and its inputs: only the head, on fixed features, where the body is frozen."""
    import torch

    body, head = module
    if any(p.requires_grad for p in body.parameters()):
        return module, rows
    body.eval()
    with torch.no_grad():
        return head, Rows(torch.cat([body(z) for z in torch.split(rows.Z, BLOCK)]), rows.y)


def tensors(data: Dataset) -> Rows:
    """All rows of a data set, encoded."""
    import torch

    encode = Encoding(data.schema).encode
    some = (data.X[at : at + CHUNK] for at in range(0, len(data), CHUNK))
    Z = np.concatenate([encode(X).astype(np.float32) for X in some])
    return Rows(torch.from_numpy(Z), torch.tensor(data.y))


def seeded(seed: int, make: Callable[[], Made]) -> Made:
    """The result of `make` with torch's global generator seeded; the generator's state is restored afterwards."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make()


def joined(body: list[Any], head: nn.Module) -> nn.Sequential:
    """A network of `body` and `head`."""
    from torch import nn

    net = nn.Sequential()
    net.add_module("body", nn.Sequential(*body))
    net.add_module("head", head)
    return net


def image_shape(name: str, schema: Schema) -> tuple[int, int, int]:
    """Channels, height and width of the images that the rows are.

    >>> from jali.data.tables.images import pixels
    >>> image_shape("vit", Schema(pixels(3, 4), image=(3, 4, 4)))
    (3, 4, 4)
    """
    if schema.image is None:
        raise JaliError(
            f"{name} needs images, but these rows are none: use a data set of images such as cifar10, or set image = "
            "(channels, height, width) in the schema."
        )
    return schema.image


def positive(part: Architecture, **sizes: int) -> None:
    """Raise if a size is below one or the step size is negative."""
    wrong = [f"{name} = {n}" for name, n in ({"epochs": part.epochs, "batch": part.batch} | sizes).items() if n < 1]
    if wrong:
        raise JaliError(f"{registry.name_of(part)}: sizes must be at least 1, not {', '.join(wrong)}.")
    if part.lr < 0:
        raise JaliError(f"{registry.name_of(part)}: lr must not be below 0, not {part.lr}.")


def finite(name: str, lr: float, module: nn.Module) -> None:
    """Raise if the training of a network diverged."""
    if not all(bool(p.isfinite().all()) for p in module.parameters()):
        raise JaliError(f"{name}: training diverged with lr = {lr}; choose a smaller lr.")
