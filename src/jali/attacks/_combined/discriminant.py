"""Directions in which several signals are independent, so that noise they share cancels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jali.attacks._combined.sums import Side, Sums
from jali.core.values import Bools, Floats, Ints

TINY = 1e-12


def directions(rest: Floats, use: Bools, member: Bools, ridge: float, parts: Sequence[Ints]) -> tuple[Floats, ...]:
    """Weights (G, F) of features that diagonalise both the covariance within records and that of the records' shifts.

    With R the correlation within records, shrunken by `ridge` towards none, and z the shifts in - out in units in which
    R is the identity, the rows are the eigenvectors of Cov(z). In these directions residuals are uncorrelated with
    variance 1, and so are the shifts of the records: a sum of single ratios is the joint one. (Fisher 1936; Ledoit and
    Wolf 2004 for the shrinkage.) rest (F, N, K): features less a level of each record; use, member (N, K).

    parts: some of the models each. Beside the weights from all models there are, for each part, those from the models
    outside it, along the same axes. Noise that a model shares among many records makes its signals go together by
    chance. Directions that follow this chance cancel it in the models they come from and add to it in a target.
    """
    outside, inside = _sides(rest, use, member)
    covariance = _within(rest, use, member, (outside, inside))
    deviation = np.sqrt(np.maximum(np.diag(covariance), TINY))
    white = _whitening(covariance, ridge) / deviation
    axes = _axes(white @ (inside.mean - outside.mean), inside.count, outside.count).T
    found = [axes @ white]
    for part in parts:
        others = np.setdiff1d(np.arange(use.shape[1]), part)
        covariance = np.zeros_like(covariance)  # without any other model nothing is known to go together
        if len(others):
            some = (rest[:, :, others], use[:, others], member[:, others])
            covariance = _within(*some, _sides(*some))
        found.append(axes @ (_whitening(covariance, ridge) / deviation))
    return tuple(found)


def _sides(rest: Floats, use: Bools, member: Bools) -> tuple[Side, Side]:
    """Means and counts of out- and in-models."""
    zero = np.zeros(rest.shape[:2])
    everybody = np.ones((1, use.shape[1]), dtype=bool)
    return Sums.of(lambda rows: (rest[:, rows], zero[:, rows]), len(rest), use, member, everybody).sides()


def _within(rest: Floats, use: Bools, member: Bools, sides: tuple[Side, Side]) -> Floats:
    """The covariance (F, F) of features within records and sides."""
    outside, inside = sides
    residual = np.where(member, inside.mean[:, :, None], outside.mean[:, :, None])
    np.subtract(rest, residual, out=residual)
    residual *= use
    residual = residual.reshape(len(rest), -1)
    freedom = np.maximum(inside.count - 1, 0).sum() + np.maximum(outside.count - 1, 0).sum()
    return np.asarray(residual @ residual.T / max(freedom, 1.0))


def _whitening(covariance: Floats, ridge: float) -> Floats:
    """Weights (F, F) of standardised features in whose directions these are uncorrelated with variance 1."""
    deviation = np.sqrt(np.maximum(np.diag(covariance), TINY))
    correlation = covariance / np.outer(deviation, deviation)
    np.fill_diagonal(correlation, 1.0)
    shrunken = (1 - ridge) * correlation + ridge * np.eye(len(correlation))
    return np.asarray(np.linalg.inv(np.linalg.cholesky(shrunken)))


def _axes(shift: Floats, k_in: Floats, k_out: Floats) -> Floats:
    """Eigenvectors (G, G) of the covariance of shifts (G, N) between records, their noise taken off."""
    both = (k_in > 0) & (k_out > 0)
    if both.sum() <= len(shift):
        return np.eye(len(shift))
    z = shift[:, both]
    noise = 1 / k_in[both] + 1 / k_out[both]
    common = (z / noise).sum(axis=1, keepdims=True) / (1 / noise).sum()
    scatter = (z - common) @ (z - common).T / both.sum()
    return np.asarray(np.linalg.eigh(_significant(scatter, int(both.sum())) - noise.mean() * np.eye(len(z)))[1])


def _significant(scatter: Floats, records: int) -> Floats:
    """A covariance (G, G) of so many records, its covariances moved towards 0 by what chance alone can reach.

    Axes that follow chance would find it again in each shadow model, whose shifts they were made of, and in no target.
    The largest of G^2 / 2 covariances of independent numbers is about sqrt(4 log(G) / records) deviations.
    (Donoho and Johnstone 1994; Rothman, Levina and Zhu 2009.)
    """
    deviation = np.sqrt(np.maximum(np.diag(scatter), TINY))
    reach = np.sqrt(4 * np.log(max(len(scatter), 2)) / records) * np.outer(deviation, deviation)
    kept = np.sign(scatter) * np.maximum(np.abs(scatter) - reach, 0.0)
    np.fill_diagonal(kept, np.diag(scatter))
    return np.asarray(kept)
