"""Two ways to measure how far apart rows are: HEOM on raw rows, squared Euclidean on scaled and one-hot features."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.spatial import cKDTree

from jali.core import distance
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Bools, Floats, Ints, Schema

HELD = 1 << 22  # distances held at once
FLAT = 16  # features up to which a tree is quicker than all distances


class Space(Protocol):
    """How far apart raw rows are."""

    def nearest(self, X: Floats, rows: Floats, k: int = 1) -> Floats:
        """Distances (n, k) to the k nearest of rows (m, D), rising; infinite where there are fewer."""

    def within(self, X: Floats, rows: Floats, reach: float) -> Ints:
        """How many of rows (m, D) lie nearer than a distance to each of X (n, D): (n,)."""


@dataclass(frozen=True, eq=False)
class Heom:
    """HEOM with the ranges of a schema."""

    schema: Schema

    @cached_property
    def spans(self) -> Floats:
        """Ranges (D,) of the columns; a constant column counts like a code."""
        numbers = np.array([c.high - c.low for c in self.schema.columns])
        coded: Bools = np.array([c.kind == "category" for c in self.schema.columns])
        return np.where(coded, 1.0, numbers)

    def nearest(self, X: Floats, rows: Floats, k: int = 1) -> Floats:
        """Distances (n, k) to the k nearest rows."""
        return distance.nearest(X, rows, self.schema, self.spans, k)[1]

    def within(self, X: Floats, rows: Floats, reach: float) -> Ints:
        """Rows nearer than a distance, (n,)."""
        out = np.empty(len(X), dtype=np.int64)
        size = max(1, HELD // max(1, len(rows)))
        for start in range(0, len(X), size):
            some = slice(start, start + size)
            out[some] = (distance.distances(X[some], rows, self.schema, self.spans) < reach).sum(axis=1)
        return out


@dataclass(frozen=True, eq=False)
class SquaredEuclidean:
    """Squared Euclidean distance of encoded features: numbers by centre and spread, categories one-hot.

    It is what DOMIAS and its baselines use, so that scores can be compared with theirs.
    """

    schema: Schema

    def nearest(self, X: Floats, rows: Floats, k: int = 1) -> Floats:
        """Distances (n, k) to the k nearest rows: by a k-d tree in few dimensions, else from all products."""
        Z = Encoding(self.schema).encode(X)
        G = Encoding(self.schema).encode(rows)
        if Z.shape[1] <= FLAT:
            return np.square(np.asarray(cKDTree(G).query(Z, k=list(range(1, k + 1)))[0], dtype=np.float64))
        out = np.full((len(Z), k), np.inf)
        most = min(k, len(G))
        size = max(1, HELD // max(1, len(G)))
        for start in range(0, len(Z), size):
            far = _all(Z[start : start + size], G)
            out[start : start + size, :most] = np.sort(np.partition(far, most - 1, axis=1)[:, :most], axis=1)
        return out

    def within(self, X: Floats, rows: Floats, reach: float) -> Ints:
        """Rows nearer than a distance, (n,)."""
        Z = Encoding(self.schema).encode(X)
        G = Encoding(self.schema).encode(rows)
        out = np.empty(len(Z), dtype=np.int64)
        size = max(1, HELD // max(1, len(G)))
        for start in range(0, len(Z), size):
            out[start : start + size] = (_all(Z[start : start + size], G) < reach).sum(axis=1)
        return out


def _all(Z: Floats, G: Floats) -> Floats:
    """All squared Euclidean distances (n, m), from |z|^2 - 2 z g + |g|^2; what rounding leaves of zero is zero."""
    square = (Z * Z).sum(axis=1)[:, None] - 2 * (Z @ G.T) + (G * G).sum(axis=1)
    square[square < 1e-12] = 0.0
    return np.asarray(square)


def space(metric: str, schema: Schema) -> Space:
    """The space of a name."""
    spaces: dict[str, type[Heom] | type[SquaredEuclidean]] = {"heom": Heom, "squared_euclidean": SquaredEuclidean}
    if metric not in spaces:
        raise JaliError(f"The distance must be one of {', '.join(spaces)}, not {metric!r}.")
    return spaces[metric](schema)
