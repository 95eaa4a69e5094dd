"""Whole explanations as vectors of few numbers."""

from __future__ import annotations

import numpy as np

from jali.core.encoding import Encoding
from jali.core.values import Floats, Schema


def per_column(value: Floats, schema: Schema) -> Floats:
    """Numbers (n, P) of encoded features summed over those of each raw column (n, D).

    >>> from jali.core.values import Column
    >>> schema = Schema((Column("age"), Column("city", "category", categories=("Antwerp", "Ghent"))))
    >>> per_column(np.array([[1.0, 2.0, 3.0]]), schema)
    array([[1., 5.]])
    """
    source = Encoding(schema).source
    out = np.zeros((len(value), len(schema.columns)))
    np.add.at(out.T, source, value.T)
    return out


def few(value: Floats, most: int) -> Floats:
    """A vector (n, D) of at most so many numbers; a longer one along fixed random directions, which keep angles."""
    wide = value.shape[1]
    if wide <= most:
        return value
    directions = np.random.default_rng(wide).choice([-1.0, 1.0], size=(wide, most)) / np.sqrt(wide)
    return np.asarray(value @ directions)
