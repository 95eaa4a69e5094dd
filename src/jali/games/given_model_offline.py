"""A model that already exists, attacked by an adversary who has no candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.values import Dataset, Game, Rng
from jali.games._draws import enough, positive, proportion, split, subsets
from jali.games._existing import sides


@dataclass(frozen=True)
class GivenModelOffline:
    """The first `members` rows trained a model that exists; the adversary only has other people of the same population.

    A share `reserve` of the population is kept as non-members that no shadow sees; the shadows train on random
    subsets of the rest, as large as the real training set where there are enough rows. If shadows saw the
    non-members and no members, counting alone would separate the two (AUC .9997, measured). No shadow ever saw a
    record that is judged, so this adversary is much weaker than that of `given_model`.

    The offline game of Carlini et al., Membership Inference Attacks From First Principles, S&P 2022.

    >>> from jali.data.linear_gaussian import LinearGaussian
    >>> data = LinearGaussian(n=100, d=2).load()
    >>> game = GivenModelOffline(members=30, shadows=2).draw(data, np.random.default_rng(0))
    >>> game.scored.sum(), bool((game.member[:, 1:].any(axis=1) & game.scored[:, 0]).any())
    (np.int64(65), False)
    """

    members: int
    shadows: int = 32
    reserve: float = 0.5
    caution: ClassVar[str] = (
        "The adversary of this audit has no candidates: no shadow model was trained on a person who is judged. "
        "Somebody who knows the candidates finds more; game given_model plays that adversary."
    )

    def __post_init__(self) -> None:
        positive("given_model_offline", "members", self.members)
        positive("given_model_offline", "shadows", self.shadows)
        proportion("given_model_offline", "reserve", self.reserve)

    def draw(self, data: Dataset, rng: Rng) -> Game:
        """Keep the given membership of model 0 and draw shadows from the population."""
        train, others = sides("given_model_offline", data, self.members)
        group = data.group_numbers()
        reserve = split(group, self.reserve, rng) & others
        pool = others & ~reserve
        share = min(0.8, self.members / max(1, int(pool.sum())))
        member = np.concatenate([train[:, None], subsets(group, share, self.shadows, rng, pool)], axis=1)
        shadows = np.ones((1, 1 + self.shadows), dtype=bool)
        shadows[0, 0] = False
        scored = (train | reserve)[:, None]
        enough("given_model_offline", data, member, scored)
        return Game(member, np.array([0]), shadows, scored)
