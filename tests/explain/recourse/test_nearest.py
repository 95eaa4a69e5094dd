from __future__ import annotations

import numpy as np
import pytest

from jali.explain._recourse.nearest import length, nearest_l1, nearest_l2


def box(n, d, seed):
    rng = np.random.default_rng(seed)
    weight, low, high = rng.normal(size=(n, d)), -rng.uniform(0, 2, (n, d)), rng.uniform(0, 2, (n, d))
    most = np.where(weight > 0, weight * high, weight * low).sum(axis=1)
    return weight, low, high, most


@pytest.mark.parametrize("share", [0.1, 0.6, 0.95])
def test_l1_against_linear_programming(share):
    from scipy.optimize import linprog

    weight, low, high, most = box(15, 4, 0)
    move, reached = nearest_l1(weight, share * most, low, high)
    assert reached.all()
    np.testing.assert_allclose((weight * move).sum(axis=1), share * most)
    for i in range(15):
        bounds = [(0, h) for h in high[i]] + [(0, -b) for b in low[i]]
        solved = linprog(np.ones(8), A_ub=-np.r_[weight[i], -weight[i]][None], b_ub=[-share * most[i]], bounds=bounds)
        assert np.abs(move[i]).sum() == pytest.approx(solved.fun, rel=1e-9)


@pytest.mark.parametrize("share", [0.1, 0.6, 0.95])
def test_l2_meets_the_conditions_of_the_optimum(share):
    """move = clip(t weight, low, high) for one t per row, and the gap is gained exactly."""
    weight, low, high, most = box(50, 6, 1)
    move, reached = nearest_l2(weight, share * most, low, high)
    assert reached.all()
    np.testing.assert_allclose((weight * move).sum(axis=1), share * most)
    inner = (move > low) & (move < high)
    t = np.where(inner, move / weight, np.nan)
    t = np.where(inner.any(axis=1), np.nanmax(np.where(inner, t, -np.inf), axis=1), np.inf)
    np.testing.assert_allclose(np.clip(t[:, None] * weight, low, high)[inner.any(axis=1)], move[inner.any(axis=1)])


@pytest.mark.parametrize("nearest", [nearest_l1, nearest_l2])
def test_out_of_reach_goes_as_far_as_the_box(nearest):
    weight, low, high, most = box(20, 3, 2)
    move, reached = nearest(weight, 1.1 * most, low, high)
    assert not reached.any()
    np.testing.assert_allclose(move, np.where(weight > 0, high, low))


@pytest.mark.parametrize("nearest", [nearest_l1, nearest_l2])
def test_odd_rows(nearest):
    """No slope at all, no gap at all, a column that may not move, an endless box."""
    weight = np.array([[0.0, 0.0], [1.0, 2.0], [5.0, 1.0], [0.0, 1e-3]])
    gap = np.array([1.0, -3.0, 2.0, 1.0])
    low = np.array([[-1.0, -1.0], [-1.0, -1.0], [0.0, -9.0], [-np.inf, -np.inf]])
    move, reached = nearest(weight, gap, low, -low)
    assert reached.tolist() == [False, True, True, True]
    np.testing.assert_allclose(move, [[0, 0], [0, 0], [0, 2], [0, 1000]], atol=1e-9)


def test_length():
    move = np.array([[3.0, -4.0]])
    assert length(move, "l1")[0] == 7
    assert length(move, "l2")[0] == 5
