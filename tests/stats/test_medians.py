"""Medians over target models."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.stats.medians import median_over_units


def test_the_interval_lies_between_the_ranks_of_the_binomial_table():
    # P(B <= 6) = .0113 and P(B <= 7) = .0320 for 24 trials: the 7th smallest and the 7th largest value.
    assert sum(comb(24, i) for i in range(7)) / 2**24 <= 0.025 < sum(comb(24, i) for i in range(8)) / 2**24
    found = median_over_units(np.random.default_rng(0).permutation(24) + 1.0)
    assert (found.value, found.low, found.high, found.units) == (12.5, 7.0, 18.0, 24)


def test_a_value_that_is_far_off_moves_nothing():
    values = np.arange(12.0)
    far = np.append(values[:-1], 1e6)
    assert median_over_units(values).high == median_over_units(far).high


def test_few_targets_have_a_median_and_no_interval():
    found = median_over_units(np.array([3.0, 1.0, 2.0]))
    assert (found.value, found.low, found.high) == (2.0, None, None)
    assert "more than 3 target models" in found.reason


def test_the_interval_covers():
    draws = np.random.default_rng(1).exponential(size=(2000, 15))
    found = [median_over_units(d) for d in draws]
    held = np.mean([f.low <= np.log(2) <= f.high for f in found])
    assert held >= 0.955  # exactly .9648


def test_values_that_are_missing_are_refused():
    with pytest.raises(JaliError, match="finite"):
        median_over_units(np.array([1.0, np.nan]))
    with pytest.raises(JaliError, match="finite"):
        median_over_units(np.zeros(0))
