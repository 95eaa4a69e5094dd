"""Correlations of the signals from the shadows' residuals."""

from __future__ import annotations

import numpy as np

from jali.core.guesses import Shadows
from jali.core.values import Bools, Floats
from jali.stats.moments import moments


def residuals(shadows: Shadows, side: Bools) -> Floats:
    """Deviations (S, N, K) from each record's mean on one side; zero in cells that are not used."""
    out = np.zeros_like(shadows.value)
    for s, (value, observed) in enumerate(zip(shadows.value, shadows.observed, strict=True)):
        use = observed & side
        out[s] = np.where(use, value - moments(value, use).mean[:, None], 0.0)
    return out


def correlation(deviation: Floats) -> Floats:
    """Correlation (S, S) of deviations (S, N, K); a constant signal is uncorrelated with everything."""
    flat = deviation.reshape(len(deviation), -1)
    cross = flat @ flat.T
    scale = np.sqrt(np.diag(cross))
    safe = np.where(scale > 0, scale, 1.0)
    out = cross / np.outer(safe, safe)
    np.fill_diagonal(out, 1.0)
    return np.asarray(np.clip(out, -1.0, 1.0))
