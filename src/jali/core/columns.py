"""Columns of large arrays, as rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from jali.core.values import Ints

BLOCK = 2_048  # records at a time: as many as stay in a cache


def columns(array: npt.NDArray[Any], which: Ints) -> npt.NDArray[Any]:
    """Some columns of an array (N, M) as rows (T, N), a few records at a time: a column lies scattered in memory.

    >>> columns(np.array([[1, 2, 3], [4, 5, 6]]), np.array([2, 0]))
    array([[3, 6],
           [1, 4]])
    """
    out = np.empty((len(which), len(array)), dtype=array.dtype)
    for start in range(0, len(array), BLOCK):
        rows = slice(start, start + BLOCK)
        out[:, rows] = array[rows][:, which].T
    return out
