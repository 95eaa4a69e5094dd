"""What members and others have in common, and how they spread: the ratio of two normal laws, and nothing by chance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from jali.attacks._combined.quadratic import Quadratic
from jali.stats.roc import auc

ROWS = np.array([0, 2])


def drawn(rng, inside, outside, n: int = 20_000, rows: int = 3):
    """A table of three rows, two of which have these covariances for members and for others."""
    truth = rng.random(n) < 0.5
    parts = [rng.multivariate_normal(np.zeros(2), cov, n).T for cov in (outside, inside)]
    table = rng.normal(size=(rows, n))
    table[ROWS] = np.where(truth, parts[1], parts[0])
    return table, truth


@pytest.mark.parametrize(
    ("inside", "outside"),
    [
        ([[1.0, 0.4], [0.4, 1.0]], [[1.0, -0.4], [-0.4, 1.0]]),
        ([[2.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]),
        ([[1.0, 0.3], [0.3, 0.5]], [[1.5, 0.3], [0.3, 1.0]]),
    ],
)
def test_it_is_the_likelihood_ratio_of_two_normal_laws(rng, inside, outside):
    found = Quadratic.of(*drawn(rng, inside, outside), ROWS)
    table, truth = drawn(rng, inside, outside)
    exact = multivariate_normal([0, 0], inside).logpdf(table[ROWS].T)
    exact -= multivariate_normal([0, 0], outside).logpdf(table[ROWS].T)
    assert np.corrcoef(found(table), exact)[0, 1] > 0.97
    assert auc(found(table), truth) > auc(exact, truth) - 0.005


def test_levels_and_scales_of_rows_do_not_matter(rng):
    """Rows stretched and moved, members in another place: what differs in second order is the same."""
    table, truth = drawn(rng, [[1.0, 0.5], [0.5, 1.0]], np.eye(2))
    moved = table * np.array([[100.0], [1.0], [0.01]]) + np.array([[5.0], [0.0], [-7.0]])
    plain = Quadratic.of(table, truth, ROWS)(table)
    np.testing.assert_allclose(Quadratic.of(moved, truth, ROWS)(moved), plain, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("noise", ["normal", "far tails", "levels in common"])
def test_chance_is_seldom_taken_for_a_difference(noise):
    """Eight rows and no difference: of forty tables at most four have one."""
    seen = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        table = rng.normal(size=(8, 3_000)) if noise != "far tails" else rng.standard_t(1.5, (8, 3_000))
        if noise == "levels in common":
            table += 3 * rng.normal(size=(1, 3_000))
        seen += Quadratic.of(table, rng.random(3_000) < 0.5, np.arange(8)) is not None
    assert seen <= 4


def test_a_direction_of_many_rows_is_found_though_no_pair_of_them_tells(rng):
    """Twenty rows of members share a factor of .05: one direction has twice the variance."""
    n = 3_000
    truth = rng.random(n) < 0.5
    table = rng.normal(size=(20, n)) + truth * np.sqrt(0.05) * rng.normal(size=n)
    found = Quadratic.of(table, truth, np.arange(20))
    assert len(found.difference) == 1
    other = rng.normal(size=(20, n)) + truth * np.sqrt(0.05) * rng.normal(size=n)
    assert auc(found(other), truth) > auc(other.sum(axis=0) ** 2, truth) - 0.03


def test_rows_that_say_nothing_are_left_out(rng):
    table, truth = drawn(rng, [[1.0, 0.5], [0.5, 1.0]], np.eye(2))
    table[1] = 7.0
    found = Quadratic.of(table, truth, np.arange(3))
    assert found is not None
    assert found.rows.tolist() == [0, 2]
    table[:] = 7.0
    assert Quadratic.of(table, truth, np.arange(3)) is None


def test_too_few_of_one_side(rng):
    table, truth = drawn(rng, np.eye(2), np.eye(2), n=50)
    truth[:] = False
    truth[:2] = True
    assert Quadratic.of(table, truth, ROWS) is None


def test_a_value_far_out_counts_for_no_more_than_others(rng):
    table, truth = drawn(rng, [[1.0, 0.5], [0.5, 1.0]], np.eye(2))
    found = Quadratic.of(table, truth, ROWS)
    far = np.full((3, 2), 4.0)
    far[:, 1] = 1e12
    first, second = found(far)
    assert second == pytest.approx(first, rel=0.2)
