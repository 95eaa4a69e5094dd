"""The mean of linear models that were trained on shares of the rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from jali.core import registry
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.guarantee import Guarantee, Private
from jali.core.protocols import Linear, Model, Trainer
from jali.core.values import Bools, Dataset, Rng, Schema, frozen
from jali.models.fitted.linear import LinearEnsemble, LinearModel, joined
from jali.models.logistic import Logistic


@dataclass(frozen=True)
class Committee:
    """The mean of linear models, each trained on a share of the rows that no other one sees.

    coef = mean_k coef_k and intercept = mean_k intercept_k over `members` models of `trainer`. A random order of a
    column's training rows is cut into shares of `size` rows; what is left over trains nobody (0: all rows, in shares
    that differ by at most one). Where a row goes depends on its place alone, never on its contents, so shares are not
    stratified; what happens to a share with one class only is up to the trainer (`logistic` refuses it).

    If every member is epsilon-private, so is the mean, and so are all members together: a replaced record is in one
    share and changes one member. Members on overlapping samples would pay for a record as often as it is used.

    The owner's model of Huang et al., 2023, with a difference. The code it builds on takes the log-odds of the mean
    probability for a score and the sum of the weights for a length. The sum only shifts all log distances; the
    log-odds are another order of the records wherever members disagree, and no linear model, so a step along the
    weights would miss their boundary. Here decision, score and recourse belong to one and the same linear model.

    >>> from jali.core.values import Column, Schema
    >>> data = Dataset(np.array([[-2.0], [2.0], [-1.0], [1.0]]), [0, 1, 0, 1], Schema((Column("x"),)))
    >>> whole, rngs = np.ones((4, 1), dtype=bool), [np.random.default_rng(0)]
    >>> bool((Committee(members=1).fit(data, whole, rngs).coef == Logistic().fit(data, whole, rngs).coef).all())
    True
    """

    trainer: Trainer = field(default_factory=Logistic)
    members: int = 20
    size: int = 0

    def __post_init__(self) -> None:
        if self.members < 1 or self.size < 0:
            raise JaliError(
                f"committee: members must be at least 1 and size at least 0, not {self.members} and {self.size}."
            )

    def fit(self, data: Dataset, member: Bools, rngs: list[Rng]) -> LinearEnsemble:
        """Train one committee per column of member (N, M); column j draws shares and noise from rngs[j]."""
        member = frozen(member, bool, (len(data), len(rngs)), "member")
        return joined([self._mean(data.rows(mine), rng) for mine, rng in zip(member.T, rngs, strict=True)])

    def shares(self, n: int, rng: Rng) -> Bools:
        """Which of n rows train which member (n, members)."""
        used = self.members * self.size or n
        if not self.members <= used <= n:
            raise JaliError(
                f"committee: {self.members} members need {self.members * (self.size or 1):,} training rows, and there "
                f"are {n:,}: choose fewer members or a smaller size."
            )
        share = np.full(n, -1)
        share[rng.permutation(n)[:used]] = np.arange(used) * self.members // used
        return np.asarray(share[:, None] == np.arange(self.members))

    def guarantee(self, schema: Schema | None = None) -> Guarantee:
        """What each member promises; without a promise of theirs there is none, and asking for it is an error.

        With the schema of the data, it is void where constants that it rests on were taken from the rows.
        """
        name = registry.name_of(self.trainer)
        if not isinstance(self.trainer, Private):
            raise JaliError(f"committee: {name} promises nothing, so its mean does not: use dp_logistic as trainer.")
        given = self.trainer.guarantee()
        assumes = (*given.assumes, "a row trains one member, chosen by its place and not by its contents")
        mechanism = f"{given.mechanism} in {self.members} disjoint shares"
        return replace(given, mechanism=mechanism, assumes=assumes).on(schema)

    def _mean(self, data: Dataset, rng: Rng) -> LinearModel:
        shares = self.shares(len(data), rng)
        fitted = self.trainer.fit(data, shares, rng.spawn(self.members))
        models = [self._linear(fitted[k]) for k in range(self.members)]
        coef, intercept = (np.mean([getattr(m, name) for m in models], axis=0) for name in ("coef", "intercept"))
        return LinearModel(Encoding(data.schema), coef, intercept)

    def _linear(self, model: Model) -> Linear:
        if not isinstance(model, Linear):
            name = registry.name_of(self.trainer)
            raise JaliError(f"committee averages weights, and a model of {name} is not linear: use logistic.")
        return model
