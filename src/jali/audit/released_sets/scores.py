"""Scores of candidates against a released set, larger = more member-like; no model and no membership is read.

G are the released rows, R a reference sample of the population, x a candidate, d a distance.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from jali.audit.released_sets.spaces import Space
from jali.core.values import Floats, Ints

NEIGHBOURS = 5
HELD = 1 << 22  # pairs of a candidate and a released row that are compared at once
RARE = 0.5  # people added to each count of a value in the reference, so that no value has probability zero
TITLES: Mapping[str, str] = {
    "distance": "distance to the release",
    "calibrated": "distance to the release, less that to the reference",
    "density": "released rows nearby",
    "density_ratio": "density of the release over that of the reference",
    "partial_copy": "values shared with one released row, rare ones counting more",
}


def scores(
    space: Space, X: Floats, released: Floats, reference: Floats, codes: Mapping[str, Ints]
) -> dict[str, Floats]:
    """All scores (n,) of candidates X (n, D) by name; codes: candidates, released and reference as whole numbers.

    distance = -d(x, G), and calibrated = d(x, R) - d(x, G): Chen et al., GAN-Leaks, CCS 2020. density = share of G
    nearer to x than the median of d(x, G): Hilprecht et al., PoPETs 2019. density_ratio = log of the distance to the
    fifth nearest of R over that of G, a density ratio as in van Breugel et al., DOMIAS, AISTATS 2023. partial_copy =
    largest sum over the columns in which x equals one released row of -log(share of R with that value).
    """
    near = space.nearest(X, released, NEIGHBOURS)
    far = space.nearest(X, reference, NEIGHBOURS)
    reach = float(np.median(near[:, 0]))
    k = min(NEIGHBOURS, len(released), len(reference)) - 1
    floor = max(1e-3 * float(np.median(far[:, k])), 1e-12)
    weight = rarity(codes["candidates"], codes["reference"])
    return {
        "distance": -near[:, 0],
        "calibrated": far[:, 0] - near[:, 0],
        "density": space.within(X, released, reach) / len(released),
        "density_ratio": np.log(far[:, k] + floor) - np.log(near[:, k] + floor),
        "partial_copy": agreement(codes["candidates"], codes["released"], weight),
    }


def rarity(candidates: Ints, reference: Ints) -> Floats:
    """How rare each value of the candidates (n, D) is in the reference (r, D): -log((count + 1/2) / (r + 1)).

    >>> rarity(np.array([[1], [7]]), np.array([[1], [1], [2]])).round(3)
    array([[0.47 ],
           [2.079]])
    """
    out = np.empty(candidates.shape)
    for j in range(candidates.shape[1]):
        values, count = np.unique(reference[:, j], return_counts=True)
        place = np.searchsorted(values, candidates[:, j]).clip(max=len(values) - 1)
        known = values[place] == candidates[:, j]
        out[:, j] = -np.log((np.where(known, count[place], 0) + RARE) / (len(reference) + 1))
    return out


def agreement(candidates: Ints, released: Ints, weight: Floats, asked: Ints | None = None) -> Floats:
    """Largest sum of weights (n, D) over the columns in which a candidate equals one released row: (n,).

    asked (m, D): the rows that were asked about; then only columns count that the answer changed.

    >>> agreement(np.array([[1, 2]]), np.array([[1, 3], [4, 2]]), np.array([[1.0, 5.0]]))
    array([5.])
    """
    rows, columns = candidates.shape
    best = np.zeros(rows)
    changed = None if asked is None else asked != released
    size = max(1, HELD // max(1, len(released)))
    for start in range(0, rows, size):
        some = slice(start, start + size)
        total = np.zeros((len(candidates[some]), len(released)))
        for j in range(columns):
            same = candidates[some, j, None] == released[:, j]
            if changed is not None:
                same &= changed[:, j]
            total += np.where(same, weight[some, j, None], 0.0)
        best[some] = total.max(axis=1)
    return best
