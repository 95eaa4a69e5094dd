"""Correlations of the signals from the residuals of out-models, for several sets of models at once."""

from __future__ import annotations

import numpy as np

from jali.core.guesses import Shadows
from jali.core.values import Bools, Floats
from jali.stats.moments import BLOCK, first_seen

ROUNDING = 1e-13  # a sum of squares that is this small a part of what it was taken from is zero


def correlations(shadows: Shadows, sets: Bools, mean: Floats) -> Floats:
    """Correlation (T, S, S) of the signals over the out-models of each set (T, K), about these means (S, T, N).

    With residuals r = value - mean where a signal was observed and 0 elsewhere, it is sum r_s r_q, divided by the
    lengths of r_s and r_q; a constant signal is uncorrelated with everything. The products come from sums of values,
    sum v_s v_q - m_q sum v_s - m_s sum v_q + m_s m_q, each over the cells where both signals were observed. A model
    outside a set is multiplied by zero, so that nothing of it is left in the last digits.
    """
    level = np.stack([first_seen(*pair) for pair in zip(shadows.value, shadows.observed, strict=True)])
    alike = _alike(shadows.observed)
    weight = sets.astype(np.float64)
    signals, records, models = shadows.value.shape
    cross = np.zeros((len(sets), signals, signals))
    square = np.zeros((len(sets), signals))
    step = max(1, BLOCK // (models * signals))
    for start in range(0, records, step):
        rows = slice(start, start + step)
        use = shadows.observed[:, rows] & ~shadows.member[rows]
        value = (shadows.value[:, rows] - level[:, rows, None]) * use
        product = _products(value, weight)
        square += np.diagonal(product, axis1=1, axis2=2)
        cross += product - _of_means(value, use, alike, weight, mean[:, :, rows] - level[:, None, rows])
    return _scaled(cross, square)


def _alike(observed: Bools) -> list[list[int]]:
    """The signals (S, N, K), in groups that were observed in the same cells."""
    groups: list[list[int]] = []
    for s, cells in enumerate(observed):
        same = next((group for group in groups if np.array_equal(observed[group[0]], cells)), None)
        if same is None:
            groups.append([s])
        else:
            same.append(s)
    return groups


def _products(value: Floats, weight: Floats) -> Floats:
    """Sums (T, S, S) of products of two signals (S, n, K), over records and the models of each set (T, K)."""
    by_model = np.ascontiguousarray(value.transpose(2, 0, 1))
    each = by_model @ by_model.transpose(0, 2, 1)
    return np.asarray(np.tensordot(weight, each, axes=1))


def _of_means(value: Floats, use: Bools, alike: list[list[int]], weight: Floats, mean: Floats) -> Floats:
    """What residuals lack of the products (T, S, S): m_q sum v_s + m_s sum v_q - m_s m_q, with means (S, T, n)."""
    middle = np.ascontiguousarray(mean.transpose(1, 0, 2))
    once = np.empty((len(weight), len(value), len(value)))
    twice = np.empty_like(once)
    for group in alike:
        cells = use[group[0]]
        there = middle[:, group].transpose(0, 2, 1)
        # Values are 0 where their own signal was not used already.
        kept = value if len(alike) == 1 else value * cells
        sums = np.stack([weight @ signal.T for signal in kept], axis=1)
        once[:, :, group] = sums @ there
        for other in alike:
            both = weight @ (use[other[0]] & cells).astype(np.float64).T
            twice[:, np.array(other)[:, None], group] = (middle[:, other] * both[:, None]) @ there
    return once + once.transpose(0, 2, 1) - twice


def _scaled(cross: Floats, square: Floats) -> Floats:
    """Correlations (T, S, S) from sums of products; square (T, S): sums of squares before means were taken off."""
    own = np.diagonal(cross, axis1=1, axis2=2)
    scale = np.sqrt(np.where(own > ROUNDING * square, own, 0.0))
    safe = np.where(scale > 0, scale, 1.0)
    out = cross / (safe[:, :, None] * safe[:, None, :])
    out *= (scale > 0)[:, :, None] & (scale > 0)[:, None, :]
    out[:, np.arange(out.shape[1]), np.arange(out.shape[1])] = 1.0
    return np.asarray(np.clip(out, -1.0, 1.0))
