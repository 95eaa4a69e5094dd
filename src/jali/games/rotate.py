"""Every model takes its turn as target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.core.values import Dataset, Game, Rng
from jali.games._draws import enough, positive, proportion, subsets


@dataclass(frozen=True)
class Rotate:
    """Each model in turn is the target and all others are its shadows.

    Every training set is an independent random share of the rows. Independence matters: if each record were in exactly
    half of all models, counting the other models would reveal membership (AUC 1.0 without any signal).

    Carlini et al., Membership Inference Attacks From First Principles, S&P 2022, with independent draws.

    >>> from jali.data.linear_gaussian import LinearGaussian
    >>> Rotate(models=4).draw(LinearGaussian(n=40, d=2).load(), np.random.default_rng(0)).member.sum(axis=0)
    array([20, 20, 20, 20])
    """

    models: int = 32
    share: float = 0.5

    def __post_init__(self) -> None:
        positive("rotate", "models", self.models, least=2)
        proportion("rotate", "share", self.share)

    def draw(self, data: Dataset, rng: Rng) -> Game:
        """Draw independent columns; everybody is scored under every model."""
        member = subsets(data.group_numbers(), self.share, self.models, rng)
        scored = np.ones((len(data), self.models), dtype=bool)
        enough("rotate", data, member, scored)
        return Game(member, np.arange(self.models), ~np.eye(self.models, dtype=bool), scored)
