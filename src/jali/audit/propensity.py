"""Weights that make non-members resemble the members, where the two are no random samples of the same people.

A score that reads nothing but the records then has an AUC of one half again. What differs between members and
non-members beyond the columns that are read stays confounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Bools, Floats, Ints, Rng, frozen
from jali.parallel import alone
from jali.stats.people import people

FOLDS = 5
MOST = 0.95  # above this propensity non-members are too rare to speak for the members there


@dataclass(frozen=True)
class Weighting:
    """weight (G,): 1 for members, e / (1 - e) for others, 0 where the propensity e is above 0.95.

    effective: the effective number of non-members as people, (sum w)^2 / sum w^2. trimmed: how many members and how
    many non-members have weight 0.
    """

    weight: Floats
    effective: float
    trimmed: tuple[int, int]

    @property
    def kept(self) -> Bools:
        """Which guesses (G,) count at all."""
        return self.weight > 0


def propensity(
    rows: Floats, truth: Bools, group: Ints, rng: Rng, folds: int = FOLDS, category: Sequence[int] = ()
) -> Floats:
    """The probability (G,) of being a member given the record (G, P), by boosted trees fitted on other people.

    All rows of a person (G,) are in one fold; members and non-members are spread evenly over the folds. Both sides
    count for one half in all, however many they are: a propensity above one half is then that of records which are
    commoner among members. category: the columns whose numbers have no order.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    fold = _folds(truth, group, rng, folds)
    out = np.empty(len(truth))
    for k in range(folds):
        learn = fold != k
        model = HistGradientBoostingClassifier(
            max_iter=100,
            max_leaf_nodes=4,
            random_state=int(rng.integers(2**31)),
            categorical_features=list(category) or None,
        )
        out[~learn] = alone(_fitted, (model, rows[learn], truth[learn], rows[~learn]))
    return _even(out, truth)


def _fitted(job: tuple[Any, Floats, Bools, Floats]) -> Floats:
    model, rows, truth, others = job
    chances: Floats = model.fit(rows, truth).predict_proba(others)[:, 1]
    return chances


def _even(chances: Floats, truth: Bools) -> Floats:
    """Probabilities (G,) as they would be with as many members as non-members (G,).

    >>> _even(np.array([0.9, 0.95]), np.arange(10) < 9).round(3)
    array([0.5  , 0.679])
    """
    odds = chances * max(int((~truth).sum()), 1)
    return np.asarray(odds / (odds + (1 - chances) * max(int(truth.sum()), 1)))


def _folds(truth: Bools, group: Ints, rng: Rng, folds: int) -> Ints:
    """The fold (G,) of each row; a person is of the kind of their first row."""
    persons, first, at = np.unique(group, return_index=True, return_inverse=True)
    of_person = np.empty(len(persons), dtype=np.int64)
    for kind in (True, False):
        mine = np.flatnonzero(truth[first] == kind)
        if len(mine) < folds:
            who = "members" if kind else "non-members"
            raise JaliError(f"Weights need at least {folds} people who are {who}; there are {len(mine)}.")
        of_person[mine] = rng.permutation(len(mine)) % folds
    spread: Ints = of_person[at]
    return spread


def weighting(chances: Floats, truth: Bools, group: Ints, most: float = MOST) -> Weighting:
    """Weights that give non-members the covariates of the members: odds e / (1 - e), the members' own weight is 1.

    Rows with a propensity above `most` are left out on both sides.
    Hirano, Imbens and Ridder, Efficient Estimation of Average Treatment Effects, 2003; Crump et al. 2009 on trimming.

    >>> found = weighting(np.array([0.5, 0.98, 0.2, 0.99]), np.array([True, True, False, False]), np.arange(4))
    >>> found.weight, found.trimmed, found.effective
    (array([1.  , 0.  , 0.25, 0.  ]), (1, 1), 1.0)
    """
    chances = frozen(chances, np.float64, truth.shape, "chances")
    out = chances > most
    odds = chances / np.maximum(1 - chances, 1 - most)
    weight = np.where(out, 0.0, np.where(truth, 1.0, odds))
    others = ~truth & ~out
    effective = people(group[others], weight[others]) if others.any() else 0.0
    trimmed = (int(np.count_nonzero(out & truth)), int(np.count_nonzero(out & ~truth)))
    return Weighting(weight, effective, trimmed)
