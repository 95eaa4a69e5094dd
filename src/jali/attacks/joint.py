"""Several signals at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.attacks._likelihood import shrunken_ratio
from jali.attacks._weights import distinct, overlap
from jali.core import Bools, Floats, Ints, Shadows, Target
from jali.stats.roc import auc

FEWEST = 6  # shadow models below which none can be spared to try signals on


@dataclass(frozen=True)
class Joint:
    """Sum of the log-likelihood ratios of the signals that help, spread and shift shrunken.

    score = sum_s w_s log[p(t_s | in) / p(t_s | out)], Student-t with the spread of `lira(spread="shrunken")` and with
    the shift between in- and out-models shrunken towards the common one, which is what few in-models need. The
    adversary tries the signals on two of its own models: each is added while it raises their AUC by at least `gain`.
    The weights count what is distinct: w >= 0 minimises w'Rw/2 - 1'w with R the squared within-record correlation,
    so a repeated signal shares its weight and two signals get equal weights. A joint Gaussian with pooled covariance,
    a matrix-valued prior and learnt weights were weaker (docs/architecture.md).

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

    def score(self, target: Target, shadows: Shadows) -> Floats:
        """Combined log-likelihood ratio (N,)."""
        signals = list(range(len(target.value)))
        shared = overlap(shadows) if len(signals) > 1 else np.ones((1, 1))
        chosen = self._helpful(shadows, shared) if len(signals) > 1 else signals
        return distinct(shared, chosen) @ self._ratios(target.value[chosen], shadows, chosen)

    def _ratios(self, value: Floats, shadows: Shadows, chosen: list[int]) -> Floats:
        """Log-likelihood ratios (S, N) of values (S, N)."""
        cells = (shadows.value, shadows.observed)
        pairs = zip(value, *(c[chosen] for c in cells), strict=True)
        return np.stack([shrunken_ratio(v, s, o, shadows.member, self.prior) for v, s, o in pairs])

    def _helpful(self, shadows: Shadows, shared: Floats) -> list[int]:
        """Signals chosen by trying them on shadow models; all of them where none can be spared."""
        everything = list(range(len(shadows.value)))
        trials = [self._trial(shadows, column) for column in _spared(shadows)]
        trials = [(ratios, truth) for ratios, truth in trials if truth.any() and not truth.all()]
        chosen: list[int] = []
        best = 0.5
        while trials and len(chosen) < len(everything):
            reached = {}
            for s in set(everything) - set(chosen):
                weights = distinct(shared, [*chosen, s])
                reached[s] = np.mean([auc(weights @ ratios[[*chosen, s]], truth) for ratios, truth in trials])
            s = max(sorted(reached), key=lambda i: reached[i])
            if chosen and reached[s] < best + self.gain:
                break
            chosen, best = [*chosen, s], float(reached[s])
        return chosen or everything

    def _trial(self, shadows: Shadows, column: int) -> tuple[Floats, Bools]:
        """Ratios (S, n) of one shadow model judged by the others, and its membership (n,), where all was observed."""
        rest = np.arange(shadows.member.shape[1]) != column
        others = Shadows(shadows.value[:, :, rest], shadows.observed[:, :, rest], shadows.member[:, rest])
        seen = shadows.observed[:, :, column].all(axis=0)
        ratios = self._ratios(shadows.value[:, :, column], others, list(range(len(shadows.value))))
        return ratios[:, seen], shadows.member[seen, column]


def _spared(shadows: Shadows) -> Ints:
    """Two ordinary shadow models, those of middling mean signal, whatever the order of the columns."""
    models = shadows.member.shape[1]
    if models < FEWEST:
        return np.array([], dtype=np.int64)
    middle = models // 2
    return np.argsort(shadows.value[0].mean(axis=0), kind="stable")[middle : middle + 2]
