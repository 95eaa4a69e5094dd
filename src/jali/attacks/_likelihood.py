"""The likelihood ratio of one signal, shared by the attacks that use it."""

from __future__ import annotations

import numpy as np

from jali.core.values import Bools, Floats
from jali.stats.moments import Moments, moments, pooled_variance, predictive, student_logpdf, total

TINY = 1e-12


def log_ratio(value: Floats, shadow: Floats, use: Bools, member: Bools, spread: str, prior: float) -> Floats:
    """Log p(value | in) - log p(value | out) per record, fitted on the shadows' used cells.

    value (N,), shadow, use and member (N, K). A record with fewer than two used cells on either side is judged by
    the two distributions of all records together: missing cells are never filled in.
    """
    inside = moments(shadow, use & member)
    outside = moments(shadow, use & ~member)
    thin = (inside.count < 2) | (outside.count < 2)
    score = np.zeros(len(value)) if thin.all() else _fitted(value, inside, outside, spread, prior)
    if thin.any():
        apart = normal(value, *total(shadow, use & member)) - normal(value, *total(shadow, use & ~member))
        score = np.where(thin, apart, score)
    return score


def _fitted(value: Floats, inside: Moments, outside: Moments, spread: str, prior: float) -> Floats:
    if spread == "common":
        shared = (pooled_variance(inside) + pooled_variance(outside)) / 2
        return normal(value, inside.mean, shared) - normal(value, outside.mean, shared)
    return _density(value, inside, spread, prior) - _density(value, outside, spread, prior)


def normal(value: Floats, mean: Floats | float, variance: Floats | float) -> Floats:
    """Log density of a normal distribution, without the constant that cancels in a ratio."""
    variance = np.maximum(variance, TINY)
    return np.asarray(-0.5 * (value - mean) ** 2 / variance - 0.5 * np.log(variance))


def _density(value: Floats, side: Moments, spread: str, prior: float) -> Floats:
    if spread == "shrunken":
        return student_logpdf(value, *predictive(side, prior, (0.0, 0.0)))
    pooled = pooled_variance(side)
    return normal(value, side.mean, pooled if spread == "pooled" else np.maximum(side.variance, 1e-6 * pooled))


def shrunken_ratio(value: Floats, shadow: Floats, use: Bools, member: Bools, prior: float) -> Floats:
    """Log-likelihood ratio with both the spread and the shift in - out shrunken towards those of all records.

    The shift of a record is d ~ N(D, T), D and T by moments over records; the estimate of d from its shadows, with
    noise v_in/k_in + v_out/k_out, is weighted against that. A record without in-models still gets the common shift, and
    one without any cell is judged by the two distributions of all records together. value (N,), the rest (N, K).
    """
    inside = moments(shadow, use & member)
    outside = moments(shadow, use & ~member)
    if not (inside.count >= 2).any() or not (outside.count >= 2).any():
        return log_ratio(value, shadow, use, member, "pooled", prior)
    k_in = inside.count.astype(np.float64)
    k_out = outside.count.astype(np.float64)
    v_in = max(pooled_variance(inside), TINY)
    v_out = max(pooled_variance(outside), TINY)
    both = (k_in > 0) & (k_out > 0)
    noise = v_in / np.maximum(k_in, 1) + v_out / np.maximum(k_out, 1)
    seen = np.where(both, inside.mean - outside.mean, 0.0)
    common = float(np.average(seen, weights=both / noise)) if both.any() else 0.0
    scatter = max(float(((seen - common) ** 2 - noise)[both].mean()), 0.0) if both.any() else 0.0
    trust = np.where(both, scatter / (scatter + noise), 0.0)
    shift = common + trust * (seen - common)
    unsure = scatter * (1 - trust)
    cells = np.maximum(k_in + k_out, 1)
    level = (k_out * outside.mean + k_in * (inside.mean - shift)) / cells
    score = _wide(value, level + shift, inside, prior, unsure * (k_out / cells) ** 2 + v_in / cells)
    score -= _wide(value, level, outside, prior, unsure * (k_in / cells) ** 2 + v_out / cells)
    empty = k_in + k_out == 0
    if empty.any():
        apart = normal(value, *total(shadow, use & member)) - normal(value, *total(shadow, use & ~member))
        score = np.where(empty, apart, score)
    return score


def common_ratio(value: Floats, shadow: Floats, use: Bools, member: Bools) -> Floats:
    """Log-likelihood ratio if membership shifted every record alike: (D / v)(value - level - D / 2).

    D is the mean shift in - out over records, v the pooled variance, level (N,) the record's mean with its in-cells
    moved back by D. It compares distances above the record's own level, and ignores the record's own shift.
    """
    inside = moments(shadow, use & member)
    outside = moments(shadow, use & ~member)
    both = (inside.count > 0) & (outside.count > 0)
    shift = float((inside.mean - outside.mean)[both].mean()) if both.any() else 0.0
    spread = [pooled_variance(side) for side in (inside, outside) if (side.count >= 2).any()]
    variance = max(float(np.mean(spread)) if spread else total(shadow, use)[1], TINY)
    cells = inside.count + outside.count
    level = (outside.count * outside.mean + inside.count * (inside.mean - shift)) / np.maximum(cells, 1)
    level = np.where(cells > 0, level, total(shadow, use & ~member)[0])
    return shift / variance * (value - level - shift / 2)


def _wide(value: Floats, mean: Floats, side: Moments, prior: float, extra: Floats) -> Floats:
    """Student-t log density with shrunken variance, widened by the variance of the mean."""
    freedom = np.maximum(side.count - 1, 0)
    a = prior + freedom / 2
    b = (prior - 1) * pooled_variance(side) + freedom * side.variance / 2
    return student_logpdf(value, 2 * a, mean, np.maximum(b / a + extra, TINY))
