"""Generated tables whose columns all have mean 0 and standard deviation 1."""

from __future__ import annotations

from typing import Literal

from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Floats, Ints, Schema

REACH = 8.0
Known = Literal["declared", "bounds"]


def standardised(X: Floats) -> Floats:
    """Columns (N, D) standardised to mean 0 and standard deviation 1 over all rows.

    >>> import numpy as np
    >>> standardised(np.array([[1.0], [3.0]])).tolist()
    [[-1.0], [1.0]]
    """
    scaled: Floats = (X - X.mean(axis=0)) / X.std(axis=0)
    return scaled


def dataset(X: Floats, y: Ints, classes: int, known: Known = "declared") -> Dataset:
    """A table of standardised numbers x0, x1, …; no class is favourable.

    The bounds are 8 standard deviations: finite, for searches that draw between bounds, and too wide to matter. known:
    "bounds" where the rows were standardised by their own mean and standard deviation, so that the scale is theirs.
    """
    columns = tuple(Column(f"x{j}", "number", -REACH, REACH, known=known) for j in range(X.shape[1]))
    return Dataset(X, y, Schema(columns, tuple(str(c) for c in range(classes))))


def check(name: str, n: int, d: int, seed: int) -> None:
    """Raise if the parameters of a generated table are out of range."""
    if n < 2 or d < 1 or seed < 0:
        raise JaliError(f"{name}: n must be at least 2, d at least 1 and seed at least 0, not {n}, {d} and {seed}.")
