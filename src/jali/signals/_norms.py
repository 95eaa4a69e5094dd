"""Size of attributions, and their distribution over the features."""

from __future__ import annotations

from typing import Literal

import numpy as np

from jali.core.values import Floats, Unit

TINY = 1e-30  # replaces zero on the log scale


def smallness(size: Floats, scale: Literal["log", "raw"]) -> Floats:
    """Minus the size (n,) of explanations, or minus its logarithm.

    >>> smallness(np.array([1.0, 2.0]), "raw"), smallness(np.array([1.0, 2.0]), "log").round(4) + 0.0
    (array([-1., -2.]), array([ 0.    , -0.6931]))
    """
    return np.asarray(-np.log(np.maximum(size, TINY)) if scale == "log" else -size)


def unit_of(scale: Literal["log", "raw"]) -> Unit:
    """The unit of `smallness` on a scale."""
    return Unit.MINUS_LOG if scale == "log" else Unit.PLAIN


def shares(value: Floats) -> Floats:
    """Share (n, P) of each feature in the sum of absolute attributions (n, P); equal shares where all are zero.

    >>> shares(np.array([[1.0, -3.0], [0.0, 0.0]]))
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    size = np.abs(value)
    total = size.sum(axis=1, keepdims=True)
    return np.asarray(np.where(total > 0, size, 1.0) / np.where(total > 0, total, size.shape[1]))
