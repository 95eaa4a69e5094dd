"""A third of the records to train on, a third of non-members, and a third that the adversary trains its shadows on."""

from __future__ import annotations

from dataclasses import dataclass

from jali.core.values import Dataset, Game, Rng
from jali.games._draws import positive, proportion
from jali.games._thirds import three_folds


@dataclass(frozen=True)
class Thirds:
    """Three populations that share no record: members of the target, its non-members, and the adversary's rows.

    Each target has its own random cut into thirds and its own shadows, each trained on a random share of the
    adversary's third. No shadow of a target saw a record that is scored, so the attacks are offline ones.
    With `most` above 0, at most that many random records of each third are queried, and those of the first two thirds
    are scored; the models are the same.

    The clean form of the game in Pawelczyk, Lakkaraju and Neel, AISTATS 2023.

    >>> import numpy as np
    >>> from jali.data.linear_gaussian import LinearGaussian
    >>> game = Thirds(targets=1, shadows=2).draw(LinearGaussian(n=90, d=2).load(), np.random.default_rng(0))
    >>> game.member.sum(axis=0), int(game.scored.sum())
    (array([30, 22, 22]), 60)
    >>> game = Thirds(targets=1, shadows=2, most=10).draw(LinearGaussian(n=90, d=2).load(), np.random.default_rng(0))
    >>> int(game.scored.sum()), game.cells().sum(axis=0)
    (20, array([30, 30, 30]))
    """

    targets: int = 8
    shadows: int = 5
    share: float = 0.75
    most: int = 0

    def __post_init__(self) -> None:
        positive("thirds", "targets", self.targets)
        positive("thirds", "shadows", self.shadows)
        proportion("thirds", "share", self.share)
        positive("thirds", "most", self.most, least=0)

    def draw(self, data: Dataset, rng: Rng) -> Game:
        """Cut three folds per target; the shadows come from the last."""
        return three_folds("thirds", data, rng, self.targets, self.shadows, self.share, pool=2, most=self.most)
