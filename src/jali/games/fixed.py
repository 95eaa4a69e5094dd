"""A model that already exists."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.core import Dataset, Game, JaliError, Rng
from jali.games._draws import blocks, enough, positive, proportion, split, subsets


@dataclass(frozen=True)
class Fixed:
    """The first `members` rows trained a model that exists; the rest are a population it has not seen.

    A share `reserve` of the population is kept as non-members that no shadow sees; the shadows train on random
    subsets of the rest, as large as the real training set where there are enough rows. If shadows saw the
    non-members, counting alone would tell them from members (AUC .9997, measured).

    Steinke, Nasr and Jagielski, NeurIPS 2023 discuss audits of one given model; the reserve is our own rule.

    >>> from jali.data.linear_gaussian import LinearGaussian
    >>> game = Fixed(members=30, shadows=2).draw(LinearGaussian(n=100, d=2).load(), np.random.default_rng(0))
    >>> game.scored.sum(), bool((game.member[:, 1:].any(axis=1) & game.scored[:, 0]).any())
    (np.int64(65), False)
    """

    members: int
    shadows: int = 32
    reserve: float = 0.5

    def __post_init__(self) -> None:
        positive("fixed", "members", self.members)
        positive("fixed", "shadows", self.shadows)
        proportion("fixed", "reserve", self.reserve)

    def draw(self, data: Dataset, rng: Rng) -> Game:
        """Keep the given membership in column 0 and draw shadows from the population."""
        if self.members >= len(data):
            raise JaliError(f"fixed: {self.members} training rows of {len(data)} leave no population to compare with.")
        train = np.arange(len(data)) < self.members
        group = blocks(data)
        kept = np.isin(group, np.unique(group[train]))
        reserve = split(group, self.reserve, rng) & ~kept
        pool = ~kept & ~reserve
        share = min(0.8, self.members / max(1, int(pool.sum())))
        member = np.concatenate([train[:, None], subsets(group, share, self.shadows, rng, pool)], axis=1)
        shadows = np.ones((1, 1 + self.shadows), dtype=bool)
        shadows[0, 0] = False
        scored = (train | reserve)[:, None]
        enough("fixed", data, member, scored)
        return Game(member, np.array([0]), shadows, scored)
