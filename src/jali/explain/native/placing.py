"""Attributions of raw columns, placed on the encoded features."""

from __future__ import annotations

import numpy as np

from jali.core.encoding import Encoding
from jali.core.values import Floats, Schema


def placed(value: Floats, X: Floats, schema: Schema) -> Floats:
    """Attributions (n, P) by encoded feature from those (n, D) by raw column.

    The attribution of a categorical column goes to the category that the record has.

    >>> from jali.core.values import Column
    >>> schema = Schema((Column("sex", "category", categories=("f", "m")), Column("age")))
    >>> placed(np.array([[5.0, 7.0]]), np.array([[1.0, 30.0]]), schema)
    array([[0., 5., 7.]])
    """
    encoding = Encoding(schema)
    out = np.zeros((len(value), len(encoding.source)))
    out[:, encoding.numeric] = value[:, encoding.scaling[0]]
    for j, start in encoding.coded:
        out[np.arange(len(value)), start + X[:, j].astype(np.int64)] = value[:, j]
    return out
