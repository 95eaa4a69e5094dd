"""Conventions of evaluations as released by their authors, kept only to match published numbers."""

from __future__ import annotations

import numpy as np

from jali.core.values import Bools, Floats
from jali.stats.roc import Metric

PREFIX = "released "


def huang2024(score: Floats, truth: Bools) -> dict[str, float]:
    """AUC and "TPR at FPR" of a log-likelihood ratio, as in the code released by the authors of Huang et al. 2024.

    Its curve is drawn for the negated score and its axes are then exchanged, so what is called TPR at FPR a is the
    share of NON-members recognised while a share a of members is lost; and the position of the last vertex with x <= a
    is used to read a curve resampled on 10,000 points, so the value is read at another place than a. The AUC is not
    affected. For the standard definitions use `jali.stats.roc`.

    >>> out = huang2024(np.array([0.0, 1.0, 2.0, 3.0]), np.array([False, False, True, True]))
    >>> out["auc"]
    1.0
    """
    lost, kept = _vertices(score, truth)
    grid = np.linspace(0, 1, 10_000)
    resampled = np.interp(grid, lost, kept)
    resampled[0] = 0.0
    out = {"auc": float(np.trapezoid(kept, lost))}
    for alpha in (0.001, 0.01):
        out[f"tpr@{alpha}"] = float(resampled[np.flatnonzero(lost <= alpha)[-1]])
    return out


def _vertices(score: Floats, truth: Bools) -> tuple[Floats, Floats]:
    """(share of members lost, share of non-members recognised) from low to high score, collinear points dropped."""
    order = np.argsort(score, kind="stable")
    ordered, inside = score[order], truth[order]
    last = np.r_[ordered[1:] != ordered[:-1], True]
    lost, kept = np.cumsum(inside)[last], np.cumsum(~inside)[last]
    corner = np.r_[True, (np.diff(lost, 2) != 0) | (np.diff(kept, 2) != 0), True] if len(lost) > 2 else slice(None)
    return np.r_[0, lost[corner]] / truth.sum(), np.r_[0, kept[corner]] / (~truth).sum()


def _only(metric: str) -> Metric:
    return lambda score, truth: huang2024(score, truth)[metric]


METRICS = {PREFIX + metric: _only(metric) for metric in ("auc", "tpr@0.001", "tpr@0.01")}
