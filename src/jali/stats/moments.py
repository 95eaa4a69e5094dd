"""Per-record moments of a signal over models, on observed cells only, and the predictive densities built on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from jali.core.errors import JaliError
from jali.core.values import Bools, Floats, Ints

# A signal that never varies would give a density of zero width; this keeps its logarithm finite.
_FLOOR = 1e-12
BLOCK = 250_000  # cells (records x models) of `moments_of_sets` at a time: as many as stay in a cache


@dataclass(frozen=True)
class Moments:
    """Per record: how many cells were used (N,), their mean (N,), their variance (N,) with n - 1 below.

    The mean is zero where nothing was used, the variance where fewer than two cells were.
    """

    count: Ints
    mean: Floats
    variance: Floats


def moments(value: Floats, use: Bools) -> Moments:
    """Moments over the models `use` (N, K) of each record's `value` (N, K); other cells have no influence.

    >>> m = moments(np.array([[1.0, 3.0, 9e99]]), np.array([[True, True, False]]))
    >>> m.count, m.mean, m.variance
    (array([2]), array([2.]), array([2.]))
    """
    count = np.count_nonzero(use, axis=1)
    rest = np.where(use, value, 0.0)
    mean = np.einsum("nk->n", rest) / np.maximum(count, 1)
    rest -= mean[:, None]
    rest *= use
    variance = np.einsum("nk,nk->n", rest, rest) / np.maximum(count - 1, 1)
    return Moments(count, mean, variance)


def moments_of_sets(value: Floats, use: Bools, level: Floats, sets: Bools, variances: bool = True) -> list[Moments]:
    """`moments` over the cells used (N, K) of each of several sets of models (T, K), by matrix products.

    A model outside a set is multiplied by zero, not subtracted from the sum of all, so that neither its values nor its
    membership leave a trace in the last digits. level (N,): a number near the values of each record, which must not
    depend on membership; sums are those of differences to it, so that large values lose no digits. variances: whether
    anybody asks for them; without, they are 0.

    >>> sets = np.array([[True, True, False], [False, True, True]])
    >>> found = moments_of_sets(np.array([[1.0, 3.0, 7.0]]), np.ones((1, 3), bool), np.array([3.0]), sets)
    >>> [(m.count.tolist(), m.mean.tolist(), m.variance.tolist()) for m in found]
    [([2], [2.0], [2.0]), ([2], [5.0], [8.0])]
    """
    records, models = value.shape
    size = (len(sets), records)
    count = np.empty(size, dtype=np.int64)
    mean = np.empty(size)
    variance = np.zeros(size)
    weight = sets.astype(np.float64)
    ones = sets.astype(np.float32)  # whole numbers below 2^24 are exact
    step = max(1, BLOCK // max(1, models))
    for start in range(0, records, step):
        rows = slice(start, start + step)
        kept = value[rows] - level[rows, None]
        kept *= use[rows]
        many = ones @ use[rows].astype(np.float32).T
        some = np.maximum(many, 1, dtype=np.float64)
        away = weight @ kept.T
        middle = away / some
        if variances:
            kept *= kept
            spread = weight @ kept.T
            away *= middle
            spread -= away
            some -= 1
            spread /= np.maximum(some, 1, out=some)
            np.maximum(spread, 0.0, out=variance[:, rows])
        middle += level[rows]
        count[:, rows] = many
        mean[:, rows] = middle if many.all() else np.where(many > 0, middle, 0.0)
    return [Moments(*each) for each in zip(count, mean, variance, strict=True)]


def first_seen(value: Floats, observed: Bools) -> Floats:
    """The first observed value (N,) of each record (N, K), whoever trained on it: the level of `moments_of_sets`.

    >>> first_seen(np.array([[5.0, 2.0], [5.0, 2.0]]), np.array([[True, True], [False, True]]))
    array([5., 2.])
    """
    return np.asarray(value[np.arange(len(value)), observed.argmax(axis=1)])


def whole(moments: Moments) -> tuple[float, float]:
    """`total` of the same cells: mean and variance of all of them together, from those of each record.

    >>> whole(Moments(np.array([2, 1]), np.array([2.0, 5.0]), np.array([2.0, 0.0])))
    (3.0, 4.0)
    """
    cells = int(moments.count.sum())
    if not cells:
        return 0.0, 0.0
    mean = float(moments.count @ moments.mean) / cells
    between = float(moments.count @ (moments.mean - mean) ** 2)
    within = float(np.maximum(moments.count - 1, 0) @ moments.variance)
    return mean, (between + within) / max(cells - 1, 1)


def pooled_variance(moments: Moments) -> float:
    """Mean of the within-record variances of the records with two cells or more; every such record counts the same.

    >>> pooled_variance(Moments(np.array([2, 9, 1]), np.zeros(3), np.array([1.0, 3.0, 0.0])))
    2.0
    """
    known = moments.count >= 2
    if not known.any():
        raise JaliError("A within-record variance needs a record seen under two models: add shadow models.")
    return float(moments.variance[known].mean())


def total(value: Floats, use: Bools) -> tuple[float, float]:
    """Mean and variance (n - 1 below) of all used cells together; zero where there are none, or one.

    >>> total(np.array([[1.0, 3.0], [5.0, 7.0]]), np.array([[True, True], [True, False]]))
    (3.0, 4.0)
    """
    whole = moments(np.reshape(value, (1, -1)), np.reshape(use, (1, -1)))
    return float(whole.mean[0]), float(whole.variance[0])


def predictive(moments: Moments, prior: float, fallback: tuple[float, float]) -> tuple[Floats, Floats, Floats]:
    """Student-t prediction of the next value of each record: degrees of freedom, location, squared scale, each (N,).

    Normal-inverse-gamma shrinkage: with k cells, mean m, variance s2 and S2 the mean of s2 over records,
    a = prior + (k-1)/2, b = (prior-1) S2 + (k-1) s2/2, and t with 2a degrees of freedom at m, scale2 = b (k+1)/(a k).
    Where k = 0, location and variance come from `fallback`, the `total` of the same cells.

    >>> m = Moments(np.array([3]), np.array([1.0]), np.array([2.0]))
    >>> predictive(m, prior=3.0, fallback=(0.0, 1.0))
    (array([8.]), array([1.]), array([2.]))
    """
    if prior <= 1:
        raise JaliError(f"The prior's shape must be above 1, not {prior:g}: smaller values give it no variance.")
    k, freedom = moments.count, np.maximum(moments.count - 1, 0)
    pooled = pooled_variance(moments) if (k >= 2).any() else fallback[1]
    a = prior + freedom / 2
    b = (prior - 1) * pooled + freedom * moments.variance / 2
    scale2 = np.where(k > 0, b * (k + 1) / (a * np.maximum(k, 1)), (prior - 1) / prior * fallback[1])
    return 2 * a, np.where(k > 0, moments.mean, fallback[0]), np.maximum(scale2, _FLOOR)


def student_logpdf(x: Floats, df: Floats, loc: Floats, scale2: Floats) -> Floats:
    """Log density at x of the Student-t distribution with this location and squared scale, elementwise.

    >>> student_logpdf(np.zeros(1), np.ones(1), np.zeros(1), np.ones(1)).round(4)  # Cauchy: -ln(pi)
    array([-1.1447])
    """
    shape = gammaln((df + 1) / 2) - gammaln(df / 2) - np.log(df * np.pi * scale2) / 2
    # The logarithm of 1 + x is several times faster than log1p, and as exact where it is added to the rest.
    density: Floats = shape - (df + 1) / 2 * np.log(1 + (x - loc) ** 2 / (df * scale2))
    return density
