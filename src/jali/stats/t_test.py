"""The two-sample t test that papers make over their repetitions."""

from __future__ import annotations

import numpy as np

from jali.core.errors import JaliError
from jali.core.guesses import Estimate, Guesses
from jali.core.values import Floats
from jali.stats import roc


def two_sample(metric: str, more: Guesses, less: Guesses, level: float = 0.95) -> Estimate:
    """A metric of `more` minus that of `less` over target models as if both were independent; t and p as the reason.

    t = (mean - mean') / sqrt(s^2 (1 / T + 1 / T')) with the pooled variance s^2 and T + T' - 2 degrees of freedom; the
    interval excludes 0 exactly where p < 1 - level. Targets share records and shadows, so p is no error rate.

    >>> score, truth, unit = np.array([2.0, 1, 2, 3]), np.array([1, 0, 1, 0]) > 0, np.array([0, 0, 1, 1])
    >>> two_sample("auc", *[Guesses(s, truth, unit, unit) for s in (score, -score)]).reason
    't(2) = 0.0, p = 1'
    """
    from scipy.stats import t as student

    a = _each(metric, more)
    b = _each(metric, less)
    if min(len(a), len(b)) < 2:
        raise JaliError("A two-sample t test needs at least two target models on each side.")
    degrees = len(a) + len(b) - 2
    difference, spread = float(a.mean() - b.mean()), _pooled(a, b)
    if spread == 0:
        return Estimate(difference, difference, difference, min(len(a), len(b)), "all targets agree exactly")
    t = difference / spread
    p = 2 * student.sf(abs(t), degrees)
    reach = student.ppf((1 + level) / 2, degrees) * spread
    test = f"t({degrees}) = {t:.1f}, p {'< 0.001' if p < 0.001 else f'= {p:.2g}'}"
    return Estimate(difference, difference - reach, difference + reach, min(len(a), len(b)), test)


def _each(metric: str, guesses: Guesses) -> Floats:
    rate = roc.metric(metric)
    found = [guesses.pick(guesses.unit == u) for u in np.unique(guesses.unit)]
    return np.array([rate(g.score, g.truth) for g in found])


def _pooled(a: Floats, b: Floats) -> float:
    """Standard error of the difference of two means under one variance.

    scipy.stats.ttest_ind has the same, with a warning where all targets of one side agree.
    """
    total = a.var(ddof=1) * (len(a) - 1) + b.var(ddof=1) * (len(b) - 1)
    return float(np.sqrt(total / (len(a) + len(b) - 2) * (1 / len(a) + 1 / len(b))))
