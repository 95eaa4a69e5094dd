"""Columns of large arrays, as rows."""

from __future__ import annotations

import numpy as np
import pytest

from jali.core.columns import BLOCK, columns


@pytest.mark.parametrize("records", [0, 1, BLOCK, 2 * BLOCK + 3])
@pytest.mark.parametrize("dtype", [bool, np.float64])
def test_columns_are_those_of_the_array(records, dtype):
    array = np.random.default_rng(0).normal(size=(records, 5)).astype(dtype)
    which = np.array([4, 0, 4])
    found = columns(array, which)
    np.testing.assert_array_equal(found, array[:, which].T)
    assert found.flags.c_contiguous
    assert found.dtype == array.dtype
