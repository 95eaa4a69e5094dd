"""DP-SGD on shuffled batches, with the guarantee that holds without sampling."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING

from jali.core import registry
from jali.core.errors import JaliError
from jali.core.guarantee import CONSTANTS, announce, taken
from jali.core.protocols import Ensemble, Trainer
from jali.core.values import Bools, Dataset, Rng, Schema
from jali.defend._dp.dp_sgd_accounting import Sampled, event, losses
from jali.defend._dp.optimiser import Mechanism
from jali.defend.models.dp_sgd import ASSUMES, DECIDES, DPSGD, trained
from jali.privacy.overlap import overlaps

if TYPE_CHECKING:
    import torch
    from dp_accounting import DpEvent


@dataclass(frozen=True)
class ShuffledSGD:
    """The noise of `dp_sgd` on batches that are taken in turn from a new random order of the rows in every epoch.

    This is common in practice, usually with the epsilon of Poisson sampling. Shuffling does not give that epsilon:
    there are settings where it is known to be false (Chua et al., How Private are DP-SGD Implementations?, ICML 2024).
    What holds without amplification is that a record is in one sum per epoch. If it is replaced, that sum moves by at
    most twice the length of a clipped gradient, and no other record changes its batch. All steps therefore cost as much
    as one Gaussian mechanism per epoch with half the multiplier, under replace-one adjacency, which is the epsilon
    claimed here. A record that is removed moves others between batches, so that several sums change: add-remove has no
    such epsilon. Huang, Pawelczyk and Lakkaraju, 2024, train like this.

    >>> from jali.models.mlp import MLP
    >>> shuffled = ShuffledSGD(DPSGD(MLP(epochs=30), epsilon=1.0))
    >>> round(shuffled.guarantee().epsilon, 1), shuffled.guarantee().adjacency
    (8.0, 'replace-one')
    """

    private: Trainer

    def __post_init__(self) -> None:
        if not isinstance(self.private, DPSGD):
            raise JaliError(f"shuffled_sgd: private must be a dp_sgd, and {registry.name_of(self.private)} is none.")

    @property
    def _inner(self) -> DPSGD:
        """The wrapped `dp_sgd`."""
        assert isinstance(self.private, DPSGD)
        return self.private

    def fit(self, data: Dataset, member: Bools, rngs: list[Rng]) -> Ensemble:
        """Train one network per column of member (N, M); column j draws orders and noise from rngs[j]."""
        mixed = overlaps(self._inner.model, data)
        if mixed or taken(data.schema, CONSTANTS):  # otherwise the slow accountant need not run
            announce("shuffled_sgd", replace(self.guarantee(), void=mixed), data.schema)
        mechanism = _Shuffled(*astuple(self._inner.mechanism()))
        return trained(self._inner.model, data, member, rngs, mechanism)

    def guarantee(self, schema: Schema | None = None) -> Sampled:
        """Epsilon in total without amplification by sampling; its text also names the epsilon with Poisson sampling.

        With the schema of the data, it is void if constants that it depends on were taken from the rows.
        """
        inner = self._inner
        epochs = math.ceil(inner.steps / _batches(inner.rate))
        what = (
            f"noise of {inner.multiplier:.3g} on shuffled batches in {epochs} epochs, which would be epsilon = "
            f"{inner.epsilon:g} with Poisson sampling"
        )
        return _Replaced(
            what,
            losses(inner.multiplier / 2, 1.0, epochs, inner.delta),
            "replace-one",
            ("decisions", "explanations"),
            delta=inner.delta,
            assumes=("the number of rows is public", *ASSUMES),
            decides=DECIDES,
            multiplier=inner.multiplier,
            steps=epochs,
        ).on(schema)


@dataclass(frozen=True)
class _Replaced(Sampled):
    """The guarantee of noise on sums that change by two gradients where a record is replaced."""

    def event(self) -> DpEvent:
        """All steps as an event of `dp-accounting`."""
        return event(self.multiplier / 2, self.rate, self.steps)


@dataclass(frozen=True)
class _Shuffled(Mechanism):
    """Each row is in one batch of every epoch."""

    def batches(self, n: int, stream: torch.Generator) -> Iterator[torch.Tensor]:
        """The rows of each step."""
        import torch

        count = _batches(self.rate)
        for step in range(self.steps):
            if step % count == 0:
                order = torch.tensor_split(torch.randperm(n, generator=stream), count)
            yield order[step % count]


def _batches(rate: float) -> int:
    """The number of batches in one epoch."""
    return max(1, round(1 / rate))
