"""Directions in which several signals are independent, so that noise they share cancels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jali.attacks._combined.sums import Side, Sums
from jali.core.values import Bools, Floats, Ints

TINY = 1e-12
FEW, MANY = 0.02, 0.1  # features per cell: with fewer a covariance needs no shrinkage, with more all of it
CLEARLY = 1.1  # times as far, squared, that members lie from others
ROUNDING = 1e-9  # shrinkage that only keeps features apart which are equal but for rounding


def directions(rest: Floats, use: Bools, member: Bools, ridge: float, parts: Sequence[Ints]) -> tuple[Floats, ...]:
    """Weights (G, F) of features that diagonalise both the covariance within records and that of the records' shifts.

    With R the correlation within records, shrunken by up to `ridge` towards none, and z the shifts in - out in units in
    which R is the identity, the rows are the eigenvectors of Cov(z). In these directions residuals are uncorrelated,
    with variance 1, and so are the shifts of the records: a sum of single ratios is the joint one. (Fisher 1936; Ledoit
    and Wolf 2004 for the shrinkage.) rest (F, N, K): features less a level of each record; use, member (N, K).

    parts: some of the models each. Beside the weights from all models there are, for each part, those from the models
    outside it, along the same axes. Noise that a model shares among many records makes its signals go together by
    chance. Directions that follow this chance cancel it in the models they come from and add to it in a target.
    """
    models = np.arange(use.shape[1])
    sets = np.array([np.ones(len(models), dtype=bool), *(~np.isin(models, part) for part in parts)])
    zero = np.zeros(rest.shape[:2])
    sums = Sums.of(lambda rows: (rest[:, rows], zero[:, rows]), len(rest), use, member, sets)
    products = np.stack([value @ value.T for value in np.moveaxis(rest, 2, 0)])
    within = [_within(products[mine].sum(axis=0), sums.sides(t)) for t, mine in enumerate(sets)]
    deviation = np.sqrt(np.maximum(np.diag(within[0][0]), TINY))
    white = [_whitening(each, shrinkage(len(rest), freedom, ridge)) / deviation for each, freedom in within]
    outside, inside = sums.sides()
    axes = _axes(white[0] @ (inside.mean - outside.mean), inside.count, outside.count).T
    return tuple(axes @ each for each in white)


def shrinkage(features: int, freedom: float, ridge: float) -> float:
    """By how much a correlation of features is moved towards none, from the degrees of freedom that it was made of.

    A covariance of F numbers from n cells is known to a relative error of about sqrt(F / n) in every direction, however
    small its variance there. So where cells are many nothing is moved: columns that nearly add up to one number, as
    attributions do, have a direction of very small variance, and a ridge would hide what it tells.

    >>> shrinkage(20, 200.0, 0.02), round(shrinkage(20, 333.3, 0.02), 3), shrinkage(20, 12_000.0, 0.02)
    (0.02, 0.01, 1e-09)
    """
    share = (features / freedom - FEW) / (MANY - FEW) if freedom else 1.0
    return float(max(ROUNDING, ridge * min(max(share, 0.0), 1.0)))


def scales_together(rest: Floats, use: Bools, member: Bools, ridge: float, stored: Ints, best: Ints) -> Ints:
    """The feature of each signal (S,) for directions: `best` alone or `stored`, by how far all signals separate sides.

    What a signal is best read on alone may keep noise that it shares with others from cancelling: columns that add up
    to a number do so on their own scale. So the squared Mahalanobis distance between members and others is taken, of
    the mean shift of all signals. Signals leave the scale on which they are stored one by one as far as that brings the
    sides further apart, and unless this brings them clearly further apart than the best scales do, these are taken.
    rest (F, N, K), use, member (N, K): as in `directions`.
    """
    everybody = np.ones((1, use.shape[1]), dtype=bool)
    zero = np.zeros(rest.shape[:2])
    sums = Sums.of(lambda rows: (rest[:, rows], zero[:, rows]), len(rest), use, member, everybody)
    outside, inside = sums.sides()
    both = (inside.count > 0) & (outside.count > 0)
    covariance, freedom = _within(np.tensordot(rest, rest, axes=((1, 2), (1, 2))), (outside, inside))
    shift = (inside.mean - outside.mean)[:, both].mean(axis=1) if both.any() else np.zeros(len(rest))
    kept = shrinkage(len(stored), freedom, ridge)

    def apart(chosen: Ints) -> float:
        white = _whitening(covariance[np.ix_(chosen, chosen)], kept)
        deviation = np.sqrt(np.maximum(np.diag(covariance)[chosen], TINY))
        return float(((white @ (shift[chosen] / deviation)) ** 2).sum())

    found = stored.copy()
    reached = apart(found)
    left = np.flatnonzero(stored != best)
    while len(left):
        tried = [apart(np.where(np.arange(len(stored)) == s, best, found)) for s in left]
        at = int(np.argmax(tried))
        if tried[at] <= reached:
            break
        found[left[at]] = best[left[at]]
        reached = tried[at]
        left = np.delete(left, at)
    return found if reached > CLEARLY * apart(best) else best


def _within(products: Floats, sides: tuple[Side, Side]) -> tuple[Floats, float]:
    """The covariance (F, F) within records and sides, and its degrees of freedom.

    products (F, F): the sum of products of features over all cells.
    """
    freedom = 0.0
    for side in sides:
        products = products - (side.count * side.mean) @ side.mean.T
        freedom += float(np.maximum(side.count - 1, 0).sum())
    # Without two models of a side nothing is known to go together, and what is left is rounding.
    return (products / freedom if freedom else np.zeros_like(products)), freedom


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
