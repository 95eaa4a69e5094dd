"""Targets and shadows from one pool."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.core.values import Dataset, Game, Rng
from jali.games._draws import enough, positive, proportion, subsets


@dataclass(frozen=True)
class Halves:
    """A few targets and a pool of shadows for all of them, each trained on an independent share of the rows.

    Shadows could be balanced, so that each record is in exactly half of them. But then counting over the other shadows
    reveals who is in one of them, and an attack that is tuned on shadow models learns to count (measured: AUC .64 where
    independent shadows give .66). So every column is drawn independently.

    Carlini et al., Membership Inference Attacks From First Principles, S&P 2022 (the online game).

    >>> from jali.data.linear_gaussian import LinearGaussian
    >>> game = Halves(targets=2, shadows=4).draw(LinearGaussian(n=40, d=2).load(), np.random.default_rng(0))
    >>> game.member.sum(axis=0), game.targets
    (array([20, 20, 20, 20, 20, 20]), array([0, 1]))
    """

    targets: int = 8
    shadows: int = 32
    share: float = 0.5

    def __post_init__(self) -> None:
        positive("halves", "targets", self.targets)
        positive("halves", "shadows", self.shadows, least=2)
        proportion("halves", "share", self.share)

    def draw(self, data: Dataset, rng: Rng) -> Game:
        """Draw all columns; everybody is scored under every target."""
        models = self.targets + self.shadows
        member = subsets(data.group_numbers(), self.share, models, rng)
        shadows = np.broadcast_to(np.arange(models) >= self.targets, (self.targets, models))
        scored = np.ones((len(data), self.targets), dtype=bool)
        enough("halves", data, member, scored)
        return Game(member, np.arange(self.targets), shadows, scored)
