"""Three folds per target, and shadows of its own from one of them."""

from __future__ import annotations

import numpy as np

from jali.core import Dataset, Game, Rng
from jali.games._draws import blocks, enough, subsets


def three_folds(name: str, data: Dataset, rng: Rng, targets: int, shadows: int, share: float, pool: int) -> Game:
    """Fold 0 trains the target, fold 1 holds its non-members, and its shadows train on shares of fold `pool`."""
    group = blocks(data)
    ids = int(group.max()) + 1
    folds = [(rng.permutation(ids) * 3 // ids)[group] for _ in range(targets)]
    helpers = [subsets(group, share, shadows, rng, fold == pool) for fold in folds]
    member = np.concatenate([np.stack([fold == 0 for fold in folds], axis=1), *helpers], axis=1)
    owner = np.r_[np.full(targets, -1), np.repeat(np.arange(targets), shadows)]
    scored = np.stack([fold < 2 for fold in folds], axis=1)
    enough(name, data, member, scored)
    return Game(member, np.arange(targets), owner == np.arange(targets)[:, None], scored)
