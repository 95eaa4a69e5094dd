"""Sums with one shadow model left out equal sums that never had it."""

from __future__ import annotations

import numpy as np
import pytest

from jali.attacks._combined.sums import Side, Sums


@pytest.fixture
def cells(rng):
    value = 1e6 + rng.normal(size=(3, 50, 7))
    use = rng.random((50, 7)) < 0.8
    return value, use, rng.random((50, 7)) < 0.5


@pytest.mark.parametrize("column", [0, 3, 6])
def test_leaving_one_out_is_recomputing_without_it(cells, column):
    value, use, member = cells
    rest = np.arange(7) != column
    whole = Sums.of(value, use, member)
    fresh = Sums.of(value[:, :, rest], use[:, rest], member[:, rest])
    moved = whole.centre - fresh.centre
    for left, again in zip(whole.sides(column), fresh.sides(), strict=True):
        assert (left.count == again.count).all()
        here = left.mean + np.where(left.count > 0, moved, 0.0)
        np.testing.assert_allclose(here, again.mean, atol=1e-8)  # a mean of 1e6 has ten digits behind the point
        np.testing.assert_allclose(left.variance, again.variance, atol=1e-10)


def test_without_an_offset_the_two_agree_to_twelve_digits(rng):
    value = rng.normal(size=(2, 40, 6))
    use = np.ones((40, 6), dtype=bool)
    member = rng.random((40, 6)) < 0.5
    whole = Sums.of(value, use, member)
    for inside, side in enumerate(whole.sides(2)):
        mine = (member == bool(inside)) & (np.arange(6) != 2)
        for i in range(40):
            found = value[:, i, mine[i]] - whole.centre[:, i, None]
            if found.shape[1] >= 2:
                assert side.mean[:, i] == pytest.approx(found.mean(axis=1), abs=1e-12)
                assert side.variance[:, i] == pytest.approx(found.var(axis=1, ddof=1), abs=1e-12)


def test_cells_that_are_not_used_have_no_influence(cells):
    value, use, member = cells
    other = np.where(use, value, -1e9)
    for a, b in zip(Sums.of(value, use, member).sides(), Sums.of(other, use, member).sides(), strict=True):
        np.testing.assert_array_equal(a.mean, b.mean)
        np.testing.assert_array_equal(a.variance, b.variance)


def test_the_pooled_variance_is_that_of_records_with_two_models():
    side = Side(np.array([2.0, 1.0, 5.0]), np.zeros((1, 3)), np.array([[1.0, 9.0, 3.0]]))
    assert side.pooled.tolist() == [[2.0]]
    assert Side(np.array([1.0, 0.0]), np.zeros((1, 2)), np.zeros((1, 2))).pooled.tolist() == [[0.0]]
