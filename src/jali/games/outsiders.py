"""People outside the training set receive explanations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.core.values import Dataset, Game, Rng
from jali.games._draws import enough, positive, proportion, split


@dataclass(frozen=True)
class Outsiders:
    """Each target trains on a random share of the rows; of the rest, at most `most` (0: all) receive explanations.

    For attacks on what explanations show about training people, not on membership: only non-members are queried and
    there are no shadow models, so membership cannot be attacked here.

    The 60 % split of Goethals, Sörensen and Martens, 2022, drawn once per target.

    >>> from jali.data.linear_gaussian import LinearGaussian
    >>> game = Outsiders(targets=2, most=15).draw(LinearGaussian(n=100, d=2).load(), np.random.default_rng(0))
    >>> game.member.sum(axis=0), game.scored.sum(axis=0), int((game.member & game.scored).sum())
    (array([60, 60]), array([15, 15]), 0)
    """

    targets: int = 5
    share: float = 0.6
    most: int = 1000

    def __post_init__(self) -> None:
        positive("outsiders", "targets", self.targets)
        proportion("outsiders", "share", self.share)
        positive("outsiders", "most", self.most, least=0)

    def draw(self, data: Dataset, rng: Rng) -> Game:
        """Draw each training set, and then the people who receive explanations."""
        group = data.group_numbers()
        member = np.stack([split(group, self.share, rng) for _ in range(self.targets)], axis=1)
        scored = np.zeros_like(member)
        for t in range(self.targets):
            rest = rng.permutation(np.flatnonzero(~member[:, t]))
            scored[rest[: self.most or len(rest)], t] = True
        enough("outsiders", data, member, scored)
        nobody = np.zeros((self.targets, self.targets), dtype=bool)
        return Game(member, np.arange(self.targets), nobody, scored, asked=scored)
