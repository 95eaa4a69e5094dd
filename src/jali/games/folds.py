"""Cross-validation folds as targets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.core.values import Bools, Dataset, Game, Ints, Rng
from jali.games._draws import enough, positive, proportion, split, subsets


@dataclass(frozen=True)
class Folds:
    """Target t trains on all of the owner's rows but fold t, which holds its non-members.

    The folds are not each other's shadows: a record is missing from exactly one of them, so counting would give it
    away. Shadows train on random halves of the adversary's rows, which are never scored; attacks that ask need none.
    Folds are cut `repeats` times, and at most `most` (0: all) of the owner's rows are scored, the same for all targets
    and whole groups of them.

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

    def __post_init__(self) -> None:
        positive("folds", "k", self.k, least=2)
        positive("folds", "repeats", self.repeats)
        positive("folds", "shadows", self.shadows, least=0)
        positive("folds", "most", self.most, least=0)
        proportion("folds", "adversary", self.adversary)

    def draw(self, data: Dataset, rng: Rng) -> Game:
        """Split off the adversary's rows, then cut the owner's into folds."""
        group = data.group_numbers()
        owned = ~split(group, self.adversary, rng)
        attacked = np.concatenate([self._cut(group, owned, rng) for _ in range(self.repeats)], axis=1)
        targets = attacked.shape[1]
        member = np.concatenate([attacked, subsets(group, 0.5, self.shadows, rng, ~owned)], axis=1)
        shadows = np.zeros((targets, member.shape[1]), dtype=bool)
        shadows[:, targets:] = True
        asked = self._asked(group, rng.permutation(np.flatnonzero(owned)))
        scored = np.repeat(asked[:, None], targets, axis=1)
        enough("folds", data, member, scored)
        return Game(member, np.arange(targets), shadows, scored)

    def _cut(self, group: Ints, owned: Bools, rng: Rng) -> Bools:
        """Who trains the target of each fold (N, k)."""
        fold = np.full(int(group.max()) + 1, -1)
        ids = rng.permutation(np.unique(group[owned]))
        fold[ids] = np.arange(len(ids)) % self.k
        return np.asarray(owned[:, None] & (fold[group][:, None] != np.arange(self.k)))

    def _asked(self, group: Ints, order: Ints) -> Bools:
        """Who is scored (N,): the first groups of the rows in this order, as long as there are no more than most."""
        # An unscored row of a scored group would be known to the adversary exactly where the group is outside.
        ids, first, size = np.unique(group[order], return_index=True, return_counts=True)
        come = np.argsort(first)
        kept = ids[come][np.cumsum(size[come]) <= (self.most or len(order))]
        asked = np.zeros(len(group), dtype=bool)
        asked[order] = np.isin(group[order], kept)
        return asked
