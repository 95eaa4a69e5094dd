"""The likelihood ratio of one signal, shared by the attacks that use it."""

from __future__ import annotations

import numpy as np

from jali.core.values import Floats
from jali.stats.moments import Moments, pooled_variance, predictive, student_logpdf, whole

TINY = 1e-12


def log_ratio(value: Floats, inside: Moments, outside: Moments, spread: str, prior: float) -> Floats:
    """Log p(value | in) - log p(value | out) per record (N,), from the moments of its shadows on either side.

    A record with fewer than two cells on either side is judged by the two distributions of all records together:
    missing cells are never filled in.
    """
    thin = (inside.count < 2) | (outside.count < 2)
    score = np.zeros(len(value)) if thin.all() else _fitted(value, inside, outside, spread, prior)
    if thin.any():
        apart = normal(value, *whole(inside)) - normal(value, *whole(outside))
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
