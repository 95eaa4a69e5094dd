"""Every model takes its turn as the target, with all the others as its shadow models."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from jali.core.values import Dataset, Game, Rng
from jali.games._draws import REFERENCE, enough, positive, proportion, set_aside, share_or_none, subsets


@dataclass(frozen=True)
class Rotate:
    """Each model in turn is the target and all others are its shadows.

    Every training set is an independent random share of the rows. Independence matters: if each record were in exactly
    half of all models, counting the other models would reveal membership (AUC 1.0 without any signal). A share
    `reference` of the people is set aside first: in no training set and not scored, for attacks that compare with them.

    Carlini et al., Membership Inference Attacks From First Principles, S&P 2022, with independent draws.

    >>> from jali.data.linear_gaussian import LinearGaussian
    >>> Rotate(models=4).draw(LinearGaussian(n=40, d=2).load(), np.random.default_rng(0)).member.sum(axis=0)
    array([20, 20, 20, 20])
    """

    models: int = 32
    share: float = 0.5
    reference: float = 0.0

    def __post_init__(self) -> None:
        positive("rotate", "models", self.models, least=2)
        proportion("rotate", "share", self.share)
        share_or_none("rotate", "reference", self.reference)

    def draw(self, data: Dataset, rng: Rng) -> Game:
        """Draw independent columns; everybody who is not set aside is scored under every model."""
        group = data.group_numbers()
        aside = set_aside(group, self.reference, rng)
        member = subsets(group, self.share, self.models, rng, ~aside)
        scored = np.repeat(~aside[:, None], self.models, axis=1)
        enough("rotate", data, member, scored)
        shadows = ~np.eye(self.models, dtype=bool)
        return Game(member, np.arange(self.models), shadows, scored, aside=aside if self.reference else None)

    def with_reference(self) -> Rotate:
        """The same game with people set aside."""
        return self if self.reference else replace(self, reference=REFERENCE)
