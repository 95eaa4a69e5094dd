"""The one encoding of an experiment: raw rows (N, D) <-> encoded features (N, P).

Numbers are scaled by the schema's public centre and spread, categories are one-hot. A number that may be missing has
one more feature, 1 where it is missing; there the number itself is encoded as its centre. The encoding reads the schema
and nothing else, so members and non-members go through the same transform by construction.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Bools, Floats, Ints, Schema


@dataclass(frozen=True)
class Encoding:
    """Encode and decode rows of one schema.

    >>> from jali.core.values import Column
    >>> columns = (Column("age", "integer", 18, 90, 40, 10), Column("sex", "category", categories=("f", "m")))
    >>> e = Encoding(Schema(columns))
    >>> e.encode(np.array([[50.0, 1.0]]))
    array([[1., 0., 1.]])
    >>> e.decode(np.array([[1.04, 0.2, 0.3]]))
    array([[50.,  1.]])
    """

    schema: Schema

    @cached_property
    def source(self) -> Ints:
        """Raw column (P,) behind each encoded feature; those that mark missing numbers come last."""
        width = [max(1, len(c.categories)) for c in self.schema.columns]
        return np.concatenate([np.repeat(np.arange(len(width)), width), self.gaps])

    @cached_property
    def gaps(self) -> Ints:
        """Raw positions of the number columns that may be missing."""
        marked = [j for j, c in enumerate(self.schema.columns) if c.missing and c.kind != "category"]
        return np.array(marked, dtype=np.int64)

    @cached_property
    def numeric(self) -> Ints:
        """Positions among the encoded features of the numeric raw columns, in order."""
        own = self.source[: len(self.source) - len(self.gaps)]
        return np.flatnonzero([self.schema.columns[j].kind != "category" for j in own])

    @cached_property
    def names(self) -> tuple[str, ...]:
        """One name per encoded feature."""
        own = tuple(
            name
            for c in self.schema.columns
            for name in ([f"{c.name}={v}" for v in c.categories] if c.kind == "category" else [c.name])
        )
        return own + tuple(f"{self.schema.columns[j].name} missing" for j in self.gaps)

    @cached_property
    def scaling(self) -> tuple[Ints, Floats, Floats]:
        """Raw positions of the number columns, their centres and their spreads."""
        numbers = [(j, c) for j, c in enumerate(self.schema.columns) if c.kind != "category"]
        at = np.array([j for j, _ in numbers], dtype=np.int64)
        centre = np.array([c.centre for _, c in numbers])
        spread = np.array([c.spread for _, c in numbers])
        return at, centre, spread

    @cached_property
    def coded(self) -> tuple[tuple[int, int], ...]:
        """Raw position of each category column, and where its block of encoded features starts."""
        named = [j for j, c in enumerate(self.schema.columns) if c.kind == "category"]
        own = self.source[: len(self.source) - len(self.gaps)]
        return tuple((j, int(np.searchsorted(own, j))) for j in named)

    @cached_property
    def _blocks(self) -> list[tuple[int, int]]:
        """Where the encoded features of each raw column start and end, without those that mark missing numbers."""
        own = self.source[: len(self.source) - len(self.gaps)]
        each = np.arange(len(self.schema.columns))
        starts = np.searchsorted(own, each)
        return list(zip(starts.tolist(), np.searchsorted(own, each, "right").tolist(), strict=True))

    @cached_property
    def _category_blocks(self) -> tuple[Ints, Ints, Ints]:
        """Raw positions of the category columns, where their encoded features start, and how many each has."""
        at = np.array([j for j, _ in self.coded], dtype=np.int64)
        starts = np.array([start for _, start in self.coded], dtype=np.int64)
        return at, starts, np.array([len(self.schema.columns[j].categories) for j in at], dtype=np.int64)

    def encode(self, X: Floats) -> Floats:
        """The encoded features (n, P) of raw rows X (n, D)."""
        if X.shape[1:] != (len(self.schema.columns),):
            raise JaliError(
                f"Rows must have the {len(self.schema.columns)} columns of the schema, not shape {X.shape}."
            )
        Z = np.zeros((len(X), len(self.source)))
        at, centre, spread = self.scaling
        Z[:, self.numeric] = (X[:, at] - centre) / spread
        if self.coded:
            at_category, starts, widths = self._category_blocks
            codes = X[:, at_category].astype(np.int64)
            unknown = ((codes < 0) | (codes >= widths)).any(axis=0)
            if unknown.any():
                column = self.schema.columns[at_category[unknown.argmax()]]
                raise JaliError(f"Column {column.name!r} holds a category the schema does not name.")
            codes += starts
            Z[np.arange(len(X))[:, None], codes] = 1.0
        if len(self.gaps):
            absent = np.isnan(X[:, self.gaps])
            Z[:, -len(self.gaps) :] = absent
            own = self.numeric[np.searchsorted(at, self.gaps)]
            Z[:, own] = np.where(absent, 0.0, Z[:, own])
        return Z

    def per_column(self, value: Floats) -> Floats:
        """Numbers (n, P) of encoded features, summed over those of each raw column (n, D)."""
        if len(value) == 1:  # a single number per feature would be summed in another order
            return self.per_column(np.repeat(value, 2, axis=0))[:1]
        rows = np.ascontiguousarray(value.T)
        out = np.empty((len(self.schema.columns), len(value)))
        for column, (start, end) in enumerate(self._blocks):
            # Whole rows are added one after the other. A lone -0.0 becomes 0.0.
            np.add(rows[start:end].sum(axis=0), 0.0, out=out[column])
        for gap, column in enumerate(self.gaps, start=len(self.source) - len(self.gaps)):
            out[column] += rows[gap]
        return out.T

    def decode(self, Z: Floats) -> Floats:
        """The legal raw rows nearest to Z: bounds kept, integers rounded, the largest category taken."""
        X = np.empty((len(Z), len(self.schema.columns)))
        at, centre, spread = self.scaling
        x = Z[:, self.numeric] * spread + centre
        columns = [self.schema.columns[j] for j in at]
        whole = np.array([c.kind == "integer" for c in columns], dtype=bool)
        x[:, whole] = np.rint(x[:, whole])
        X[:, at] = np.clip(x, [c.low for c in columns], [c.high for c in columns])
        for j, start in self.coded:
            X[:, j] = Z[:, start : start + len(self.schema.columns[j].categories)].argmax(axis=1)
        if len(self.gaps):
            X[:, self.gaps] = np.where(Z[:, -len(self.gaps) :] > 0.5, np.nan, X[:, self.gaps])
        return X

    def movable(self) -> Bools:
        """Which encoded features (P,) a search may change continuously: mutable numbers."""
        columns = [self.schema.columns[j] for j in self.source]
        free = np.array([c.mutable and c.kind != "category" for c in columns], dtype=bool)
        return free & ~self.marks

    @cached_property
    def marks(self) -> Bools:
        """Which encoded features (P,) say that a number is missing."""
        return np.arange(len(self.source)) >= len(self.source) - len(self.gaps)

    def bounds(self) -> tuple[Floats, Floats]:
        """Lower and upper bounds (P,) of the encoded features; 0 and 1 for one-hot ones."""
        columns = [self.schema.columns[j] for j in self.source]
        low = [0.0 if c.kind == "category" else (c.low - c.centre) / c.spread for c in columns]
        high = [1.0 if c.kind == "category" else (c.high - c.centre) / c.spread for c in columns]
        return np.where(self.marks, 0.0, low), np.where(self.marks, 1.0, high)
