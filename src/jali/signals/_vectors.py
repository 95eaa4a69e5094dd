"""Whole explanations as vectors of few numbers."""

from __future__ import annotations

import numpy as np

from jali.core.encoding import Encoding
from jali.core.values import Floats, Schema


def per_column(value: Floats, schema: Schema) -> Floats:
    """Numbers (n, P) of encoded features summed over those of each raw column (n, D).

    An explainer may give a number per raw column, which stays, or any other count, which is read along D directions.

    >>> from jali.core.values import Column
    >>> schema = Schema((Column("age"), Column("city", "category", categories=("Antwerp", "Ghent"))))
    >>> per_column(np.array([[1.0, 2.0, 3.0]]), schema)
    array([[1., 5.]])
    """
    encoding = Encoding(schema)
    wide = value.shape[1]
    columns = len(schema.columns)
    if wide == len(encoding.source):
        return encoding.per_column(value)
    return value if wide == columns else value @ _directions(wide, columns)


def few(value: Floats, most: int) -> Floats:
    """A vector (n, D) of at most so many numbers; a longer one along fixed random directions, which keep angles."""
    return value if value.shape[1] <= most else np.asarray(value @ _directions(value.shape[1], most))


def _directions(wide: int, few: int) -> Floats:
    """Fixed random directions (wide, few)."""
    return np.asarray(np.random.default_rng(wide).choice([-1.0, 1.0], size=(wide, few)) / np.sqrt(wide))
