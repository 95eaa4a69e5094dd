"""Three folds per target; its own shadow models train on one of them."""

from __future__ import annotations

import numpy as np

from jali.core.values import Bools, Dataset, Game, Ints, Rng
from jali.games._draws import enough, subsets


def three_folds(
    name: str, data: Dataset, rng: Rng, targets: int, shadows: int, share: float, pool: int, most: int
) -> Game:
    """Fold 0 trains the target, fold 1 holds its non-members, and its shadows train on shares of fold `pool`.

    At most `most` rows of each of these folds are queried (0: all). They are drawn last, so that the models do not
    depend on `most`.
    """
    group = data.group_numbers()
    ids = int(group.max()) + 1
    folds = np.stack([(rng.permutation(ids) * 3 // ids)[group] for _ in range(targets)], axis=1)
    helpers = [subsets(group, share, shadows, rng, fold == pool) for fold in folds.T]
    member = np.concatenate([folds == 0, *helpers], axis=1)
    target_of = np.r_[np.arange(targets), np.repeat(np.arange(targets), shadows)]
    is_shadow = np.arange(len(target_of)) >= targets
    shadows_of = (target_of == np.arange(targets)[:, None]) & is_shadow
    some = np.stack([_some(fold, {0, 1, pool}, most or len(data), rng) for fold in folds.T], axis=1)
    scored = some & (folds < 2)
    enough(name, data, member, scored)
    return Game(member, np.arange(targets), shadows_of, scored, some[:, target_of] if most else None)


def _some(fold: Ints, used: set[int], most: int, rng: Rng) -> Bools:
    """At most `most` random rows of each used fold, as a mask (N,)."""
    chosen = [rng.permutation(np.flatnonzero(fold == k))[:most] for k in sorted(used)]
    return np.isin(np.arange(len(fold)), np.concatenate(chosen))
