"""Owner, evaluation and adversary populations."""

from __future__ import annotations

from dataclasses import dataclass

from jali.core import Dataset, Game, Rng
from jali.games._draws import positive, proportion
from jali.games._thirds import three_folds


@dataclass(frozen=True)
class Thirds:
    """Three populations that share no record: one trains the target, one is not in it, one is the adversary's.

    Each target has its own random cut into thirds and its own shadows, each trained on a random share of the
    adversary's third. No shadow of a target saw a record that is scored, so the attacks are offline ones.

    The clean form of the game in Pawelczyk, Lakkaraju and Neel, AISTATS 2023.

    >>> import numpy as np
    >>> from jali.data.linear_gaussian import LinearGaussian
    >>> game = Thirds(targets=1, shadows=2).draw(LinearGaussian(n=90, d=2).load(), np.random.default_rng(0))
    >>> game.member.sum(axis=0), int(game.scored.sum())
    (array([30, 22, 22]), 60)
    """

    targets: int = 8
    shadows: int = 5
    share: float = 0.75

    def __post_init__(self) -> None:
        positive("thirds", "targets", self.targets)
        positive("thirds", "shadows", self.shadows)
        proportion("thirds", "share", self.share)

    def draw(self, data: Dataset, rng: Rng) -> Game:
        """Cut three folds per target; the shadows come from the last."""
        return three_folds("thirds", data, rng, self.targets, self.shadows, self.share, pool=2)
