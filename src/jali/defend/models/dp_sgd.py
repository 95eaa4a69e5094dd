"""Networks trained by differentially private stochastic gradient descent (DP-SGD)."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np

from jali.core import registry
from jali.core.errors import JaliError
from jali.core.guarantee import Constant, announce
from jali.core.protocols import Ensemble, Trainer
from jali.core.values import Bools, Dataset, Rng, Schema
from jali.defend._dp import mlp, optimiser
from jali.defend._dp.checks import ROW, positive
from jali.defend._dp.dp_sgd_accounting import Sampled, divergences, losses, noise_for
from jali.defend._dp.optimiser import Clipping, Mechanism
from jali.models.fitted.descent import Architecture, fitted
from jali.models.fitted.linear import LinearEnsemble
from jali.models.fitted.network import NetworkEnsemble
from jali.models.mlp import MLP
from jali.privacy.accounting import Recomputed
from jali.privacy.overlap import overlaps

ASSUMES = (
    "where the networks start, the schema's scale and categories, and all fields do not come from these rows",
    "explanations do not read the training rows again",
    ROW,
    "PyTorch draws the noise (through Opacus, or by itself for mlp) with a generator of its own, in single precision, "
    "from a seed of 63 bits that must stay secret; it does not resist floating-point attacks",
)
DECIDES: tuple[Constant, ...] = ("scale", "categories", "classes")


@dataclass(frozen=True)
class DPSGD:
    """Networks of `model` trained so that they are (epsilon, delta)-private in their training rows.

    A step draws each row independently with probability `rate`, takes g = the gradient of each row's loss, and moves by
    Adam along  (sum_i c_i g_i + noise) / batch,  noise of standard deviation S times `multiplier` per coordinate.
    `automatic` clipping: c = 1 / (|g| + 0.01) and S = 1, with nothing to tune. `flat`: c = min(1, norm / |g|) and
    S = norm. There are epochs / rate steps; epochs, step size and batch are those of `model`.

    The multiplier is the least for which all steps together cost epsilon, by the privacy loss distribution of Poisson
    sampling, under add-remove adjacency. It does not depend on the number of rows: `rate` is the probability with which
    a step draws a row, and batch is a constant, so the size of the training set need not be public. Nothing is refused
    because of the rows: a training set without members of a class, or without any member, is trained on like any other,
    because a refusal would tell who is in it. `accounted` computes epsilon a second time. In the membership game one
    record is replaced, which costs up to 2 epsilon and (1 + e^epsilon) delta.

    Abadi et al., Deep Learning with Differential Privacy, 2016; Bu et al., Automatic Clipping, NeurIPS 2023; the
    defence of Huang, Pawelczyk and Lakkaraju, 2024. Gradients of rows come from Opacus, those of `mlp` from explicit
    formulas.

    >>> private = DPSGD(MLP(epochs=30), epsilon=8.0)
    >>> private.steps, round(private.multiplier, 2), round(private.accounted().rdp, 1)
    (300, 1.29, 8.8)
    >>> print(private.guarantee())
    epsilon = 8, delta = 1e-05 in total (noise of 1.29 on 300 sums over a sampled share of 0.1, add-remove), for \
decisions and explanations
    """

    model: Trainer
    epsilon: float
    delta: float = 1e-5
    rate: float = 0.1
    clipping: Clipping = "automatic"
    norm: float = 1.0

    def __post_init__(self) -> None:
        for name in ("epsilon", "delta", "rate", "norm"):
            positive("dp_sgd", name, getattr(self, name))
        if self.delta >= 1 or self.rate > 1:
            raise JaliError(f"dp_sgd: delta must be below 1 and rate at most 1, not {self.delta} and {self.rate}.")
        if not isinstance(self.model, MLP | Architecture):
            name = registry.name_of(self.model)
            raise JaliError(f"dp_sgd trains networks (mlp, convnet, vit, fine_tuned), and {name} is none of them.")

    @property
    def steps(self) -> int:
        """The number of noisy sums."""
        return max(1, round(self._epochs / self.rate))

    @property
    def multiplier(self) -> float:
        """The standard deviation of the noise in units of the sensitivity of a sum to one record."""
        return noise_for(self.epsilon, self.delta, self.rate, self.steps)

    def mechanism(self) -> Mechanism:
        """How rows are sampled, gradients clipped and noise added."""
        return Mechanism(self.multiplier, self.rate, self.steps, self.clipping, self.norm)

    def fit(self, data: Dataset, member: Bools, rngs: list[Rng]) -> Ensemble:
        """Train one private network per column of member (N, M); column j draws rows and noise from rngs[j]."""
        announce("dp_sgd", replace(self.guarantee(), void=overlaps(self.model, data)), data.schema)
        return trained(self.model, data, member, rngs, self.mechanism())

    def draws(self, data: Dataset, count: int, rng: Rng) -> LinearEnsemble:
        """Independent releases for the same training set, for tests of the guarantee."""
        nets = self.fit(data, np.ones((len(data), count), dtype=bool), rng.spawn(count))
        if not isinstance(nets, NetworkEnsemble) or len(nets.weights) > 1:
            raise JaliError("dp_sgd is tested by the weights of linear models: use dp_sgd(mlp(hidden=[]), …) for this.")
        weights = nets.weights[0].astype(np.float64)
        biases = nets.biases[0].astype(np.float64)
        return LinearEnsemble(nets.encoding, weights, biases)

    def guarantee(self, schema: Schema | None = None) -> Sampled:
        """Epsilon in total, for whatever is computed from the networks and not from their training rows.

        With the schema of the data, it is void if constants that it depends on were taken from the rows.
        """
        what = f"noise of {self.multiplier:.3g} on {self.steps} sums over a sampled share of {self.rate:g}"
        return Sampled(
            what,
            self.epsilon,
            "add-remove",
            ("decisions", "explanations"),
            delta=self.delta,
            assumes=("rows are drawn independently at every step (Poisson sampling)", *ASSUMES),
            decides=DECIDES,
            rate=self.rate,
            multiplier=self.multiplier,
            steps=self.steps,
        ).on(schema)

    def accounted(self) -> Recomputed:
        """Epsilon of the noise that is added, by two accountants of dp-accounting, beside the claimed epsilon."""
        how = (self.multiplier, self.rate, self.steps, self.delta)
        return Recomputed(self.epsilon, self.delta, losses(*how, self.epsilon / 4), divergences(*how))

    def plain(self) -> Trainer:
        """The same networks without noise."""
        return self.model

    @classmethod
    def example(cls, epsilon: float) -> DPSGD:
        """A part with this epsilon, for tests of the guarantee on standardised columns: noisy descent on all rows."""
        return cls(MLP(hidden=(), epochs=10, lr=0.1, batch=500), epsilon, rate=1.0)

    @property
    def _epochs(self) -> int:
        assert isinstance(self.model, MLP | Architecture)
        return self.model.epochs


def trained(model: Trainer, data: Dataset, member: Bools, rngs: list[Rng], mechanism: Mechanism) -> Ensemble:
    """Networks of `model`, one per column of member (N, M), trained by a mechanism."""
    if isinstance(model, MLP):
        return mlp.fitted(model, data, member, rngs, mechanism)
    assert isinstance(model, Architecture)
    return fitted(model, data, member, rngs, functools.partial(optimiser.descend, mechanism=mechanism))
