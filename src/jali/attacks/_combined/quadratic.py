"""Members and others that differ in spread, or in what goes together, and not in where they lie."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from jali.core.values import Bools, Floats, Ints

TINY = 1e-12
CHANCE = 0.05  # probability that something differs where nothing does, over all entries
FAR = 4.0  # usual distances from the middle beyond which a row is cut: squares of a few cells would decide
RIDGE = 0.02  # of the correlations of rows
MARGIN = 2.0  # deviations of an entry by which an eigenvalue must exceed what is usual in noise
MOST = 1.8  # of a difference of two variances whose mean is 1


@dataclass(frozen=True)
class Quadratic:
    """The second-order part of the log-likelihood ratio of two normal laws with different covariances.

    rows (R,): those of a table that are read. middle, usual (R, 1): of each. mean (R, 1): halfway between members and
    others. axes (A, R): directions in which the covariances of both differ, and in which their mean is 1. difference
    (A,): variance of members less that of others there.
    """

    rows: Ints
    middle: Floats
    usual: Floats
    mean: Floats
    axes: Floats
    difference: Floats

    @staticmethod
    def of(table: Floats, truth: Bools, rows: Ints) -> Quadratic | None:
        """Fitted on cells of a table (Q, n) with their membership (n,); None where nothing differs beyond chance.

        Of the difference of both covariances those entries are kept that chance would reach in one of 20 tables only
        (hard thresholds; Bickel and Levina 2008), or its eigenvalues beyond those of noise, from the spread of the
        products themselves.
        """
        if min(truth.sum(), (~truth).sum()) <= len(rows):
            return None
        low, middle, high = (q[:, None] for q in np.quantile(table[rows], (0.16, 0.5, 0.84), axis=1))
        some = (high > low)[:, 0]
        rows, middle, usual = rows[some], middle[some], (high - low)[some] / 2
        if not len(rows):
            return None
        x = _cut(table[rows], middle, usual)
        centres = [x[:, side].mean(axis=1, keepdims=True) for side in (truth, ~truth)]
        mean = (centres[0] + centres[1]) / 2
        x -= np.where(truth, *centres)
        within = x @ x.T / x.shape[1]
        deviation = np.sqrt(np.maximum(np.diag(within), TINY))
        shrunken = (1 - RIDGE) * within + RIDGE * np.diag(deviation**2)
        white = np.linalg.inv(np.linalg.cholesky(shrunken))
        difference, axes = np.linalg.eigh(_beyond_chance(white @ x, truth))
        apart = np.abs(difference) > TINY
        if not apart.any():
            return None
        return Quadratic(rows, middle, usual, mean, (axes.T @ white)[apart], np.clip(difference[apart], -MOST, MOST))

    def __call__(self, table: Floats) -> Floats:
        """The ratio (N,) of a table (Q, N), without a constant."""
        x = _cut(table[self.rows], self.middle, self.usual)
        x -= self.mean
        along = self.axes @ x
        weight = 1 / (1 - self.difference / 2) - 1 / (1 + self.difference / 2)
        along **= 2
        return np.asarray(weight / 2 @ along)


def _cut(value: Floats, middle: Floats, usual: Floats) -> Floats:
    """Rows (R, n) in usual distances from their middle, cut far out, in the place of the given ones: they are large."""
    value -= middle
    value /= usual
    return np.clip(value, -FAR, FAR, out=value)


def _beyond_chance(x: Floats, truth: Bools) -> Floats:
    """The covariance of members less that of others (R, R), of rows (R, n) with mean 0, where chance does not reach.

    A few entries may differ much, or a direction of many rows a little in each: the larger of both is kept.
    """
    covariance = []
    variance = np.zeros((len(x), len(x)))
    for side in (truth, ~truth):
        mine = x[:, side]
        mean = mine @ mine.T / mine.shape[1]
        squares = mine**2
        variance += np.maximum(squares @ squares.T / mine.shape[1] - mean**2, 0.0) / mine.shape[1]
        covariance.append(mean)
    apart = covariance[0] - covariance[1]
    reach = -ndtri(CHANCE / (len(x) * (len(x) + 1))) * np.sqrt(variance)
    entries = np.where(np.abs(apart) > reach, apart, 0.0)
    size, axes = np.linalg.eigh(apart)
    # The largest eigenvalue of a symmetric matrix of noise is about 2 sqrt(R) deviations of an entry (Wigner 1958).
    edge = (2 * np.sqrt(len(x)) + MARGIN) * np.sqrt(variance.mean())
    kept = np.where(np.abs(size) > edge, size, 0.0)
    whole = (axes * kept) @ axes.T
    return entries if np.linalg.norm(entries) >= np.linalg.norm(whole) else whole
