"""Differentially private histograms of each column by class, and rows drawn from them.

Every column is cut into bins by its declared bounds or categories. All tables (class, bin) get discrete Gaussian noise.
Replacing one record changes two cells of each of the D tables by one, so all together have l2 sensitivity sqrt(2 D) and
variance D / rho makes them rho-zCDP.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Floats, Ints, Rng, Schema
from jali.privacy.discrete_noise import gaussian_noise, zcdp_for
from jali.privacy.mechanisms import released


@dataclass(frozen=True, eq=False)
class Histograms:
    """Shares (C, B) of the bins of each column within each class, and the share (C,) of each class."""

    schema: Schema
    tables: tuple[Floats, ...]
    share: Floats
    bins: int

    def rows(self, count: int, rng: Rng) -> Dataset:
        """Rows drawn column by column, independently within a class; numbers uniformly within a bin."""
        y = rng.choice(len(self.share), count, p=self.share)
        X = np.empty((count, len(self.schema.columns)))
        for j, (column, table) in enumerate(zip(self.schema.columns, self.tables, strict=True)):
            upto = np.cumsum(table, axis=1)
            place = (rng.random(count)[:, None] > upto[y]).sum(axis=1).clip(max=table.shape[1] - 1)
            X[:, j] = _values(column, place, self.bins, rng)
        return Dataset(X, y, self.schema)


def private_histograms(name: str, train: Dataset, epsilon: float, delta: float, bins: int, rng: Rng) -> Histograms:
    """Histograms of a training set that are (epsilon, delta)-private under replace-one adjacency."""
    columns = train.schema.columns
    rho = Fraction(zcdp_for(epsilon, delta)).limit_denominator(10**9)
    variance = len(columns) / rho
    tables = []
    for j, column in enumerate(columns):
        width = len(column.categories) or bins
        counts = np.zeros((len(train.schema.classes), width), dtype=np.int64)
        np.add.at(counts, (train.y, _places(name, column, train.X[:, j], bins)), 1)
        tables.append(_noised(counts, variance, rng))
    share = np.mean([table.sum(axis=1) for table in tables], axis=0)
    share = np.maximum(share, 1e-9)
    return Histograms(train.schema, tuple(map(_shares, tables)), share / share.sum(), bins)


def _noised(counts: Ints, variance: Fraction, rng: Rng) -> Floats:
    """Counts with noise, none below zero; what is below the noise's own spread counts as nothing."""

    def draw() -> Floats:
        return np.asarray(counts + gaussian_noise(counts.shape, variance, rng), dtype=np.float64)

    noised = released("private histogram", draw, variance=float(variance))
    return np.asarray(np.where(noised > float(variance) ** 0.5, noised, 0.0))


def _shares(table: Floats) -> Floats:
    """Counts (C, B) as shares within each class; all bins alike where a class has none."""
    total = table.sum(axis=1, keepdims=True)
    return np.asarray(np.where(total > 0, table / np.maximum(total, 1e-300), 1 / table.shape[1]))


def _places(name: str, column: Column, x: Floats, bins: int) -> Ints:
    if column.kind == "category":
        return x.astype(np.int64)
    if not np.isfinite([column.low, column.high]).all():
        raise JaliError(f"{name} needs declared bounds of column {column.name!r}: give low and high.")
    width = (column.high - column.low) / bins or 1.0
    return np.floor((x - column.low) / width).astype(np.int64).clip(0, bins - 1)


def _values(column: Column, place: Ints, bins: int, rng: Rng) -> Floats:
    if column.kind == "category":
        return place.astype(np.float64)
    x = column.low + (place + rng.random(len(place))) * (column.high - column.low) / bins
    return np.clip(np.floor(x) if column.kind == "integer" else x, column.low, column.high)
