"""Ranks of several methods over several settings: the Friedman test, and Nemenyi's test of pairs of methods."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, ndtri

from jali.core.errors import JaliError
from jali.core.guesses import Estimate
from jali.core.values import Floats, Rng

DRAWS = 4_000  # of values from their intervals


@dataclass(frozen=True)
class Ranking:
    """Methods by average rank (k,), 1 for the largest value; two whose ranks differ by `distance` or more differ.

    statistic and p are those of the Friedman test that all methods are equal, over `settings` settings.
    """

    names: tuple[str, ...]
    rank: Floats
    distance: float
    statistic: float
    p: float
    settings: int

    def alike(self) -> list[tuple[int, ...]]:
        """The largest sets of two or more methods whose ranks lie within the critical distance, best first.

        >>> Ranking(("a", "b", "c"), np.array([1.0, 1.9, 2.8]), 1.2, 0.0, 1.0, 9).alike()
        [(0, 1), (1, 2)]
        """
        order = np.argsort(self.rank, kind="stable")
        ends = [int(np.count_nonzero(self.rank < low + self.distance)) for low in self.rank[order]]
        starts = [s for s, end in enumerate(ends) if s == 0 or end > ends[s - 1]]
        return [tuple(int(j) for j in order[s : ends[s]]) for s in starts if ends[s] - s > 1]


def ranking(names: Sequence[str], values: Floats, level: float = 0.95) -> Ranking:
    """Rank methods by their values (n settings, k methods), larger = better.

    statistic = 12 n / (k (k + 1)) sum_j (R_j - (k + 1) / 2)^2 / c, chi-square with k - 1 degrees of freedom, where
    c = 1 - sum(t^3 - t) / (n k (k^2 - 1)) corrects for t values that are tied. Friedman, 1937; for classifiers Demšar,
    Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 2006.

    >>> found = ranking(["a", "b", "c"], np.array([[9.0, 5, 1], [8, 4, 2], [7, 6, 3]]))
    >>> found.rank, found.statistic, round(found.p, 4)
    (array([1., 2., 3.]), 6.0, 0.0498)
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != len(names) or min(values.shape) < 2 or not np.isfinite(values).all():
        raise JaliError(
            f"A ranking needs one finite value of each of two or more methods in two or more settings, not an array of "
            f"shape {values.shape} for {len(names)} methods."
        )
    from scipy.stats import rankdata

    ranks = rankdata(-values, axis=1)
    n, k = values.shape
    statistic, p = _friedman(values)
    return Ranking(tuple(names), ranks.mean(axis=0), critical_distance(k, n, level), statistic, p, n)


def rank_apart(value: Floats, low: Floats, high: Floats, more: int, less: int, rng: Rng) -> Estimate:
    """By how much `more` ranks better than `less`, on average over these settings, with a 95 % interval.

    value, low, high (n settings, k methods): numbers, larger = better, and the ends of their 95 % intervals. Settings
    are given: what is uncertain is each number, which is drawn from a normal distribution with the deviation of its
    interval on either side; ranks are taken in each draw. Where numbers lie close, noise moves average ranks towards
    each other, so the interval of the draws is joined with its mirror image.

    >>> value = np.array([[0.9, 0.5], [0.8, 0.6]])
    >>> rank_apart(value, value - 0.01, value + 0.01, 0, 1, np.random.default_rng(0))
    Estimate(value=1.0, low=1.0, high=1.0, units=2, reason='')
    """
    normal = rng.standard_normal((DRAWS, *value.shape))
    deviation = np.where(normal < 0, value - low, high - value) / float(ndtri(0.975))
    drawn = _apart(value + normal * deviation, more, less)
    found = float(_apart(value, more, less))
    ends = np.quantile(drawn, [0.025, 0.975])
    reach = round(float(max(found - ends[0], ends[1] - found)), 9)
    most = value.shape[1] - 1.0  # ranks run from 1 to k
    return Estimate(found, max(found - reach, -most), min(found + reach, most), len(value))


def _apart(values: Floats, more: int, less: int) -> Floats:
    """Rank of `less` minus that of `more`, on average over settings; values (..., n settings, k methods)."""
    from scipy.stats import rankdata

    ranks = rankdata(-values, axis=-1)
    return np.asarray((ranks[..., less] - ranks[..., more]).mean(axis=-1))


def critical_distance(methods: int, settings: int, level: float = 0.95) -> float:
    """How far two average ranks must be apart to differ: q sqrt(k (k + 1) / (12 n)), Nemenyi, 1963.

    q is the quantile of the studentised range of k normal variables, which allows for all pairs being compared.

    >>> round(critical_distance(4, 14), 3)
    1.254
    """
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(level, methods, np.inf))
    return q * math.sqrt(methods * (methods + 1) / (12 * settings))


def _friedman(values: Floats) -> tuple[float, float]:
    """Statistic and p-value; of two methods, which scipy refuses, (wins - losses)^2 / (wins + losses)."""
    if (values == values[:, :1]).all():
        return 0.0, 1.0  # nothing differs, where the correction for ties divides by zero
    if values.shape[1] == 2:
        sign = np.sign(values[:, 0] - values[:, 1])
        statistic = float(sign.sum() ** 2 / np.abs(sign).sum())
        return statistic, float(chdtrc(1, statistic))
    from scipy.stats import friedmanchisquare

    found = friedmanchisquare(*values.T)
    return float(found.statistic), float(found.pvalue)
