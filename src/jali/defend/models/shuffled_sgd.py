"""Noisy steps on shuffled batches, and what may be claimed for them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from jali.core import registry
from jali.core.errors import JaliError
from jali.core.guarantee import CONSTANTS, announce, taken
from jali.core.protocols import Ensemble, Trainer
from jali.core.values import Bools, Dataset, Rng, Schema
from jali.defend._dp.optimiser import Mechanism
from jali.defend._dp.sampled import Sampled, losses
from jali.defend.models.dp_sgd import ASSUMES, DECIDES, DPSGD, trained

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class ShuffledSGD:
    """The noise of `dp_sgd` on batches that are taken in turn from a new order of the rows every epoch.

    Common in practice, usually with the epsilon of Poisson sampling, which shuffling does not give: there are settings
    where it is known to be false (Chua et al., How Private are DP-SGD Implementations?, ICML 2024). What holds without
    any help from chance is that a record is in one sum of every epoch, so all steps cost what as many Gaussian
    mechanisms as epochs cost, and that is what is claimed here. Huang, Pawelczyk and Lakkaraju, 2024, train like this.

    >>> from jali.models.mlp import MLP
    >>> shuffled = ShuffledSGD(DPSGD(MLP(epochs=30), epsilon=1.0))
    >>> round(shuffled.guarantee().epsilon, 1)
    3.5
    """

    private: Trainer

    def __post_init__(self) -> None:
        if not isinstance(self.private, DPSGD):
            raise JaliError(f"shuffled_sgd: private must be a dp_sgd, and {registry.name_of(self.private)} is none.")

    @property
    def _inner(self) -> DPSGD:
        assert isinstance(self.private, DPSGD)
        return self.private

    def fit(self, data: Dataset, member: Bools, rngs: list[Rng]) -> Ensemble:
        """Train one network per column of member (N, M); column j draws orders and noise from rngs[j]."""
        if taken(data.schema, CONSTANTS):  # the accountant of the claim takes its time
            announce("shuffled_sgd", self.guarantee(), data.schema)
        mechanism = _Shuffled(*astuple(self._inner.mechanism()))
        return trained(self._inner.model, data, member, rngs, mechanism)

    def guarantee(self, schema: Schema | None = None) -> Sampled:
        """Epsilon in total without amplification by sampling; it says what the noise was chosen for.

        With the schema of the data, it is void where constants that it rests on were taken from the rows.
        """
        inner = self._inner
        epochs = math.ceil(inner.steps / _batches(inner.rate))
        what = (
            f"noise of {inner.multiplier:.3g} on shuffled batches in {epochs} epochs, which would be epsilon = "
            f"{inner.epsilon:g} with Poisson sampling"
        )
        return Sampled(
            what,
            losses(inner.multiplier, 1.0, epochs, inner.delta),
            "add-remove",
            ("decisions", "explanations"),
            delta=inner.delta,
            assumes=("a record that is removed leaves its place in a batch empty", *ASSUMES),
            decides=DECIDES,
            multiplier=inner.multiplier,
            steps=epochs,
        ).on(schema)


@dataclass(frozen=True)
class _Shuffled(Mechanism):
    """Every row in one batch of every epoch."""

    def batches(self, n: int, stream: torch.Generator) -> Iterator[torch.Tensor]:
        """The rows of every step."""
        import torch

        count = _batches(self.rate)
        for step in range(self.steps):
            if step % count == 0:
                order = torch.tensor_split(torch.randperm(n, generator=stream), count)
            yield order[step % count]


def _batches(rate: float) -> int:
    """Batches of one epoch."""
    return max(1, round(1 / rate))
