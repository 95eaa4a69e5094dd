"""The mean of linear models that are trained on disjoint shares of the rows."""

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
    """The mean of linear models, each trained on its own disjoint share of the rows.

    coef = mean_k coef_k and intercept = mean_k intercept_k over `members` models of `trainer`. The training rows of a
    model are shuffled and cut into shares of `size` rows, and the rest is not used (size 0: all rows are used, in
    shares that differ by at most one row). The share of a row depends on its position alone, never on its contents, so
    shares are not stratified. Whether a share may have a single class is up to the trainer (`logistic` refuses it).

    If every member is epsilon-differentially private, so is the mean, and so are all members together: a replaced
    record is in one share and changes one member. With overlapping shares, the privacy loss of a record would add up
    over all members that use it.

    This is the target model of Huang et al., 2023, with one difference. The code they build on uses the log-odds of the
    mean probability as score and the norm of the summed weights as length. The sum only shifts all log distances. But
    the log-odds rank records differently wherever members disagree, and they are not linear, so a step along the
    weights would miss their decision boundary. Here decision, score and recourse come from one linear model.

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
        """Train one committee per column of member (N, M); column j draws its shares and noise from rngs[j]."""
        member = frozen(member, bool, (len(data), len(rngs)), "member")
        return joined([self._mean(data.rows(mine), rng) for mine, rng in zip(member.T, rngs, strict=True)])

    def shares(self, n: int, rng: Rng) -> Bools:
        """Which of n rows train which member of the committee (n, members)."""
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
        """The privacy guarantee of each member, which holds for their mean too; raises if the trainer has none.

        With the schema of the data, the guarantee is void where it rests on constants that were taken from the rows.
        """
        name = registry.name_of(self.trainer)
        if not isinstance(self.trainer, Private):
            raise JaliError(
                f"committee: {name} gives no privacy guarantee, so the mean has none: use dp_logistic as trainer."
            )
        given = self.trainer.guarantee()
        assumes = (*given.assumes, "a row trains one member, chosen by its place and not by its contents")
        mechanism = f"{given.mechanism} in {self.members} disjoint shares"
        return replace(given, mechanism=mechanism, assumes=assumes).on(schema)

    def _mean(self, data: Dataset, rng: Rng) -> LinearModel:
        shares = self.shares(len(data), rng)
        fitted = self.trainer.fit(data, shares, rng.spawn(self.members))
        models = [self._linear(fitted[k]) for k in range(self.members)]
        coef = np.mean([m.coef for m in models], axis=0)
        intercept = np.mean([m.intercept for m in models], axis=0)
        return LinearModel(Encoding(data.schema), coef, intercept)

    def _linear(self, model: Model) -> Linear:
        if not isinstance(model, Linear):
            name = registry.name_of(self.trainer)
            raise JaliError(
                f"committee averages weights, but a model of {name} is not linear: use logistic as trainer."
            )
        return model
