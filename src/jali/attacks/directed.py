"""A test whose direction is learnt on the adversary's own models."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from jali.attacks.offline_lrt import OfflineLRT
from jali.core.errors import JaliError
from jali.core.guesses import Shadows, Target
from jali.core.protocols import Attack
from jali.core.values import Bools, Floats
from jali.stats.roc import auc

FEWEST = 10  # with fewer members or non-members of a shadow, rows with fewer cells are used too


@dataclass(frozen=True)
class Directed:
    """Another attack, on the signal or on its negative, whichever better recognises members of shadow models.

    Each shadow k in turn plays the target and the others are its shadows: A_k is the AUC of its members against its
    non-members, A the mean of A_k weighted by their pairs. score = attack(t) if A >= 1/2, else attack(-t), the other
    tail of a one-sided test. Only rows that some of the other shadows trained on and some did not take part, seen
    under k and in `least` cells of each kind the attack requires (fewer cells, down to one, where that leaves fewer
    than ten members or non-members). Whether k trained on a row does not decide whether the row takes part, so
    counting reveals nothing. Where no shadow can be judged (two shadows or fewer) the direction stays as given. The
    target itself is not used to choose the direction; attacks on several signals reverse all of them together.

    Our rule for what Pawelczyk, Lakkaraju and Neel, AISTATS 2023, decided after seeing the result: the reversed test
    of C-CHVAE distances.

    Parameters
    ----------
    attack
        The attack whose direction is in doubt.
    least
        How many of the other shadows must have seen a row, for each kind (in, out) the attack requires.

    >>> from jali.attacks.threshold import Threshold
    >>> member = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1]]) > 0
    >>> shadow = Shadows(-1.0 * member[None], np.ones((1, 6, 3), bool), member)
    >>> Directed(Threshold()).score(Target(np.arange(1.0, 7.0)[None], np.ones((1, 6), bool)), shadow)
    array([-1., -2., -3., -4., -5., -6.])
    """

    attack: Attack = field(default_factory=OfflineLRT)
    least: int = 2

    def __post_init__(self) -> None:
        if self.least < 1:
            raise JaliError(f"directed: least must be at least 1, not {self.least}.")
        if "reference" in self.attack.requires:
            name = type(self.attack).__name__
            raise JaliError(
                f"directed learns its direction on shadow models, and {name} uses none: name that attack alone."
            )

    @property
    def requires(self) -> frozenset[str]:
        """The kinds of shadow the attack needs."""
        return self.attack.requires

    @property
    def many(self) -> bool:
        """Whether the attack takes several signals."""
        return self.attack.many

    def score(self, target: Target, shadows: Shadows) -> Floats:
        """Score of the attack (N,) in the direction learnt."""
        if self._mean_auc(shadows) >= 0.5:
            return self.attack.score(target, shadows)
        turned = Shadows(-shadows.value, shadows.observed, shadows.member)
        return self.attack.score(Target(-target.value, target.observed), turned)

    def _mean_auc(self, shadows: Shadows) -> float:
        """AUC over shadows as targets, weighted by pairs; one half where none can be judged."""
        found = np.array([self._tried(shadows, k) for k in range(shadows.member.shape[1])]).reshape(-1, 2)
        return float(np.average(found[:, 0], weights=found[:, 1])) if found[:, 1].any() else 0.5

    def _tried(self, shadows: Shadows, k: int) -> tuple[float, int]:
        """AUC on shadow k judged by the others, and its number of pairs of rows (0: it cannot be judged)."""
        rest = np.arange(shadows.member.shape[1]) != k
        others = Shadows(shadows.value[:, :, rest], shadows.observed[:, :, rest], shadows.member[:, rest])
        target = Target(shadows.value[:, :, k], shadows.observed[:, :, k])
        rows = self._rows(others, np.asarray(target.observed.all(axis=0)), shadows.member[:, k])
        truth = shadows.member[rows, k]
        pairs = int(np.count_nonzero(truth) * np.count_nonzero(~truth))
        try:
            return (auc(self.attack.score(target, others)[rows], truth), pairs) if pairs else (0.5, 0)
        except JaliError:
            return 0.5, 0  # too few shadows for the attack; any other fault comes up when it scores the target

    def _rows(self, others: Shadows, seen_there: Bools, truth: Bools) -> Bools:
        """Rows (N,) that take part, of those seen under the shadow; its truth (N,) only decides if they suffice."""
        seen = others.observed.all(axis=0)
        member = others.member
        pool = seen_there & member.any(axis=1) & ~member.all(axis=1)
        cells = {"in": (seen & member).sum(axis=1), "out": (seen & ~member).sum(axis=1)}
        for least in range(self.least, 0, -1):
            rows: Bools = np.logical_and.reduce([pool, *(cells[kind] >= least for kind in self.requires)])
            if min(np.count_nonzero(rows & truth), np.count_nonzero(rows & ~truth)) >= FEWEST:
                break
        return rows
