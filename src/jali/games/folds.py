"""Cross-validation folds as targets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.core.values import Bools, Dataset, Game, Ints, Rng
from jali.games._draws import enough, positive, proportion, split, subsets


@dataclass(frozen=True)
class Folds:
    """Target t trains on all folds but fold t, which holds its non-members.

    The targets are not each other's shadows: a record is missing from exactly one of them, so counting would reveal
    its membership. Shadow models train on random halves of the adversary's rows, which are never scored; query attacks
    need none. Folds are cut `repeats` times, and at most `most` (0: all) of their rows are scored, the same for all
    targets, in whole groups. With a `share` above 0 each target trains on that share of the rows, drawn at random, and
    the others are its non-members: the share of members among the scored is then that, not 1 - 1 / k.

    The evaluation of Naretto, Monreale and Giannotti, Trans. Data Privacy 2025 (three folds, 30 % for the adversary).

    >>> from jali.data.linear_gaussian import LinearGaussian
    >>> game = Folds(k=3).draw(LinearGaussian(n=100, d=2).load(), np.random.default_rng(0))
    >>> game.scored[:, 0].sum(), (game.member & game.scored[:, :1])[:, :3].sum(axis=0)
    (np.int64(70), array([46, 47, 47]))
    """

    k: int = 3
    shadows: int = 16
    adversary: float = 0.3
    repeats: int = 1
    most: int = 0
    share: float = 0.0

    def __post_init__(self) -> None:
        positive("folds", "k", self.k, least=2)
        positive("folds", "repeats", self.repeats)
        positive("folds", "shadows", self.shadows, least=0)
        positive("folds", "most", self.most, least=0)
        proportion("folds", "adversary", self.adversary)
        if self.share:
            proportion("folds", "share", self.share)

    def draw(self, data: Dataset, rng: Rng) -> Game:
        """Split off the adversary's rows, then cut the others into folds."""
        group = data.group_numbers()
        inside = ~split(group, self.adversary, rng)
        attacked = np.concatenate([self._cut(group, inside, rng) for _ in range(self.repeats)], axis=1)
        targets = attacked.shape[1]
        member = np.concatenate([attacked, subsets(group, 0.5, self.shadows, rng, ~inside)], axis=1)
        shadows = np.zeros((targets, member.shape[1]), dtype=bool)
        shadows[:, targets:] = True
        chosen = self._chosen(group, rng.permutation(np.flatnonzero(inside)))
        scored = np.repeat(chosen[:, None], targets, axis=1)
        enough("folds", data, member, scored)
        return Game(member, np.arange(targets), shadows, scored)

    def _cut(self, group: Ints, inside: Bools, rng: Rng) -> Bools:
        """Who trains the target of each fold (N, k)."""
        if self.share:
            return subsets(group, self.share, self.k, rng, inside)
        fold = np.full(int(group.max()) + 1, -1)
        ids = rng.permutation(np.unique(group[inside]))
        fold[ids] = np.arange(len(ids)) % self.k
        return np.asarray(inside[:, None] & (fold[group][:, None] != np.arange(self.k)))

    def _chosen(self, group: Ints, order: Ints) -> Bools:
        """Which rows are scored (N,): the first groups in this order of the rows, with at most `most` rows together."""
        # Else the adversary would know an unscored row of a scored group exactly where that group are non-members.
        ids, first, size = np.unique(group[order], return_index=True, return_counts=True)
        come = np.argsort(first)
        kept = ids[come][np.cumsum(size[come]) <= (self.most or len(order))]
        chosen = np.zeros(len(group), dtype=bool)
        chosen[order] = np.isin(group[order], kept)
        return chosen
