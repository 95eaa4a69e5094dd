"""Combined attack on several signals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.attacks._likelihood import common_ratio, shrunken_ratio
from jali.attacks._weights import distinct, overlap
from jali.core.errors import JaliError
from jali.core.values import Bools, Floats, Ints, Shadows, Target
from jali.stats.roc import auc

FEWEST = 6  # with fewer shadow models, none can be set aside to select signals


@dataclass(frozen=True)
class Joint:
    """Sum of the log-likelihood ratios of the signals that help, selected on the adversary's own models.

    score = sum_r w_r log[p(t | in) / p(t | out)]. Each signal offers two ratios: Student-t with the spread of
    `lira(spread="shrunken")` and the record's shift between in- and out-models shrunken towards the common one, and a
    normal with one shift for all. Starting from the best, a ratio is added while it raises the mean AUC on two shadow
    models by at least `gain`. The weights discount repetition: w >= 0 minimises w'Rw/2 - 1'w with R the squared
    within-record correlation of the signals, so a repeated signal shares its weight and two signals get equal ones.
    A joint Gaussian, a matrix-valued prior and learnt weights were weaker (docs/decisions.md).

    Our own combination; the single tests are those of Carlini et al., S&P 2022, shrunken as in arXiv 2603.11799.

    >>> one = Shadows(np.array([[[0.0, 2.0, 4.0, 6.0]]]), np.ones((1, 1, 4), bool), np.array([[0, 0, 1, 1]]) > 0)
    >>> twice = Shadows(*(np.repeat(a, 2, axis=0) for a in (one.value, one.observed)), one.member)
    >>> t1, t2 = (Target(np.full((s, 1), 5.0), np.ones((s, 1), bool)) for s in (1, 2))
    >>> bool(np.isclose(Joint().score(t1, one), Joint().score(t2, twice))[0])
    True
    """

    prior: float = 11.0
    gain: float = 0.002
    requires: ClassVar[frozenset[str]] = frozenset({"in", "out"})
    many: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.prior <= 1:
            raise JaliError(f"joint: prior must be above 1, not {self.prior}: smaller values give it no variance.")

    def score(self, target: Target, shadows: Shadows) -> Floats:
        """Combined log-likelihood ratio (N,)."""
        shared = np.tile(overlap(shadows), (2, 2))
        chosen = self._helpful(shadows, shared)
        return distinct(shared, chosen) @ self._ratios(target.value, shadows)[chosen]

    def _ratios(self, value: Floats, shadows: Shadows) -> Floats:
        """Both ratios of every signal (2 S, N) at values (S, N): with each record's own shift, with a common one."""
        cells = list(zip(value, shadows.value, shadows.observed, strict=True))
        own = [shrunken_ratio(v, s, o, shadows.member, self.prior) for v, s, o in cells]
        return np.stack(own + [common_ratio(v, s, o, shadows.member) for v, s, o in cells])

    def _helpful(self, shadows: Shadows, shared: Floats) -> list[int]:
        """Ratios selected on shadow models; those with each record's own shift where no model can be set aside."""
        trials = [self._trial(shadows, column) for column in _spared(shadows)]
        trials = [(ratios, truth) for ratios, truth in trials if truth.any() and not truth.all()]
        chosen: list[int] = []
        best = 0.5
        while trials and len(chosen) < len(shared):
            reached = {}
            for s in set(range(len(shared))) - set(chosen):
                weights = distinct(shared, [*chosen, s])
                reached[s] = np.mean([auc(weights @ ratios[[*chosen, s]], truth) for ratios, truth in trials])
            s = max(sorted(reached), key=lambda i: reached[i])
            if chosen and reached[s] < best + self.gain:
                break
            chosen = [*chosen, s]
            best = float(reached[s])
        return chosen or list(range(len(shadows.value)))

    def _trial(self, shadows: Shadows, column: int) -> tuple[Floats, Bools]:
        """Ratios (S, n) of one shadow model judged by the others, and its membership (n,), where all was observed."""
        rest = np.arange(shadows.member.shape[1]) != column
        others = Shadows(shadows.value[:, :, rest], shadows.observed[:, :, rest], shadows.member[:, rest])
        seen = shadows.observed[:, :, column].all(axis=0)
        ratios = self._ratios(shadows.value[:, :, column], others)
        return ratios[:, seen], shadows.member[seen, column]


def _spared(shadows: Shadows) -> Ints:
    """The two shadow models with the median mean signal, in any order of the models."""
    models = shadows.member.shape[1]
    if models < FEWEST:
        return np.array([], dtype=np.int64)
    seen = shadows.observed[0]
    mean = np.where(seen, shadows.value[0], 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    return np.argsort(mean, kind="stable")[models // 2 : models // 2 + 2]
