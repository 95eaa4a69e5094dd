"""Targets and shadows from one pool."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.core import Bools, Dataset, Game, Ints, Rng
from jali.games._draws import blocks, enough, positive, proportion, subsets


@dataclass(frozen=True)
class Halves:
    """Targets train on independent random shares of the rows; shadows, drawn apart from them, are balanced.

    The shadows come in sets that partition the rows, so each record is in nearly the same number of them and every
    record has in- and out-models. They are drawn independently of the targets, so counting says nothing.

    Carlini et al., Membership Inference Attacks From First Principles, S&P 2022 (the online game).

    >>> from jali.data.linear_gaussian import LinearGaussian
    >>> game = Halves(targets=2, shadows=4).draw(LinearGaussian(n=40, d=2).load(), np.random.default_rng(0))
    >>> set(game.member[:, 2:].sum(axis=1).tolist()), game.targets
    ({2}, array([0, 1]))
    """

    targets: int = 8
    shadows: int = 32
    share: float = 0.5

    def __post_init__(self) -> None:
        positive("halves", "targets", self.targets)
        positive("halves", "shadows", self.shadows, least=2)
        proportion("halves", "share", self.share)

    def draw(self, data: Dataset, rng: Rng) -> Game:
        """Draw targets, then shadows; everybody is scored under every target."""
        group = blocks(data)
        attacked = subsets(group, self.share, self.targets, rng)
        member = np.concatenate([attacked, self._balanced(group, rng)], axis=1)
        shadows = np.zeros((self.targets, member.shape[1]), dtype=bool)
        shadows[:, self.targets :] = True
        scored = np.ones((len(data), self.targets), dtype=bool)
        enough("halves", data, member, scored)
        return Game(member, np.arange(self.targets), shadows, scored)

    def _balanced(self, group: Ints, rng: Rng) -> Bools:
        """Shadow columns (N, K): each set of 1/share columns cuts a fresh permutation of the groups into parts."""
        ids = int(group.max()) + 1
        size, per_set = round(self.share * ids), max(1, int(1 / self.share))
        columns: list[Bools] = []
        while len(columns) < self.shadows:
            order = rng.permutation(ids)
            columns += [np.isin(group, order[i * size : (i + 1) * size]) for i in range(per_set)]
        return np.stack(columns[: self.shadows], axis=1)
