"""Shadow models trained on records that no target trained on, so that the adversary has none of the judged records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.core.values import Dataset, Game, Rng
from jali.games._draws import enough, positive, proportion, split, subsets


@dataclass(frozen=True)
class Disjoint:
    """The population of the targets and that of the adversary have no row in common.

    A share `train` of the rows is the population of the targets. Each target trains on a random half of it, and the
    other half are its non-members. Shadow models train on random halves of the remaining rows, which belong to the
    adversary, and never see a row that is scored. So there are no in-models for the scored records, and the attacks are
    offline ones.

    The clean form of the game in Pawelczyk, Lakkaraju and Neel, AISTATS 2023.

    >>> from jali.data.linear_gaussian import LinearGaussian
    >>> game = Disjoint(targets=1, shadows=2).draw(LinearGaussian(n=80, d=2).load(), np.random.default_rng(0))
    >>> bool((game.member[:, 1:].any(axis=1) & game.scored[:, 0]).any())
    False
    """

    targets: int = 8
    shadows: int = 16
    train: float = 0.5

    def __post_init__(self) -> None:
        positive("disjoint", "targets", self.targets)
        positive("disjoint", "shadows", self.shadows)
        proportion("disjoint", "train", self.train)

    def draw(self, data: Dataset, rng: Rng) -> Game:
        """Split the rows between targets and adversary, then draw halves of each part."""
        group = data.group_numbers()
        inside = split(group, self.train, rng)
        attacked = subsets(group, 0.5, self.targets, rng, inside)
        member = np.concatenate([attacked, subsets(group, 0.5, self.shadows, rng, ~inside)], axis=1)
        shadows = np.zeros((self.targets, member.shape[1]), dtype=bool)
        shadows[:, self.targets :] = True
        scored = np.repeat(inside[:, None], self.targets, axis=1)
        enough("disjoint", data, member, scored)
        return Game(member, np.arange(self.targets), shadows, scored)
