"""Another data set with encoded rows scaled to length one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.protocols import Source
from jali.core.values import Bools, Column, Dataset, Floats, Schema
from jali.data.tables.wrapped import Wrapped


@dataclass(frozen=True)
class UnitRows(Wrapped):
    """The encoded features of another data set, without highly correlated ones, every row divided by its length.

    z = the encoded row; a feature whose correlation with an earlier one exceeds `correlated` in magnitude is dropped
    (1: none is); x = z / ||z||. The columns are mutable numbers from -1 to 1, and there is no sensitive column. Huang
    et al. (2023) and the code of Pawelczyk et al. (2023) prepare their tables like this. The map has no inverse, so
    nobody can follow recourse computed on these columns. Unless `correlated` is 1, the choice of columns depends on the
    data, and so do constants that the source has not declared: no privacy budget of a later stage covers them.

    >>> from jali.data.lending import Lending
    >>> data = UnitRows(Lending(n=50)).load()
    >>> bool(np.allclose((data.X**2).sum(axis=1), 1))
    True
    """

    source: Source
    correlated: float = 0.95

    def __post_init__(self) -> None:
        if not 0 < self.correlated <= 1:
            raise JaliError(f"unit_rows: correlated must be above 0 and at most 1, not {self.correlated}.")

    def derived(self, origin: str) -> str:
        """The origin of the source and what was done to it."""
        return f"{origin}; rows scaled to length one"

    def load(self) -> Dataset:
        """Load the table, encode it, and scale its rows."""
        data = self.source.load()
        encoding = Encoding(data.schema)
        Z = encoding.encode(data.X)
        kept = ~_repeats(Z, self.correlated)
        Z = Z[:, kept]
        names = np.array(encoding.names)[kept]
        length = np.linalg.norm(Z, axis=1, keepdims=True)
        public = self.correlated == 1 and all(c.known == "declared" for c in data.schema.columns)
        known: Literal["declared", "observed"] = "declared" if public else "observed"
        columns = tuple(Column(str(name), "number", -1.0, 1.0, known=known) for name in names)
        whole = data.schema
        schema = Schema(columns, whole.classes, whole.favourable, target=whole.target, outcome=whole.outcome)
        return Dataset(np.clip(Z / np.where(length > 0, length, 1.0), -1.0, 1.0), data.y, schema, data.groups)


def _repeats(Z: Floats, most: float) -> Bools:
    """Columns (P,) of Z (N, P) whose correlation with an earlier one exceeds `most`; constant columns never do.

    >>> _repeats(np.array([[1.0, 2.0, 0.0], [2.0, 4.1, 0.0], [3.0, 5.9, 0.0]]), 0.95)
    array([False,  True, False])
    """
    centred = Z - Z.mean(axis=0)
    length = np.sqrt((centred * centred).sum(axis=0))
    unit = centred / np.where(length > 1e-9 * np.sqrt(len(Z)), length, np.inf)
    return np.asarray((np.abs(np.triu(unit.T @ unit, k=1)) > most + 1e-12).any(axis=0))
