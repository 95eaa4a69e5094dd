"""Correlations of the signals from the shadows' residuals."""

from __future__ import annotations

import numpy as np

from jali.core.values import Floats


def correlation(deviation: Floats) -> Floats:
    """Correlation (S, S) of deviations (S, N, K); a constant signal is uncorrelated with everything."""
    flat = deviation.reshape(len(deviation), -1)
    cross = flat @ flat.T
    scale = np.sqrt(np.diag(cross))
    safe = np.where(scale > 0, scale, 1.0)
    out = cross / np.outer(safe, safe)
    np.fill_diagonal(out, 1.0)
    return np.asarray(np.clip(out, -1.0, 1.0))
