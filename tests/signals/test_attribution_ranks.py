"""Ranks as scipy has them, ties included."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata

from jali.signals.attribution_ranks import average_ranks


@pytest.mark.parametrize("width", [1, 2, 7, 40])
@pytest.mark.parametrize("distinct", [1, 3, 1000])
def test_ranks_are_those_of_scipy_to_the_bit(width, distinct):
    value = np.random.default_rng(width).integers(0, distinct, (50, width)) / 7
    np.testing.assert_array_equal(average_ranks(value), rankdata(value, axis=1))


def test_no_rows_have_no_ranks():
    assert average_ranks(np.zeros((0, 3))).shape == (0, 3)
