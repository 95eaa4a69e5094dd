"""Ranks, the Friedman test and critical distances against hand-computed values, scipy and scikit-posthocs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import friedmanchisquare, norm, studentized_range

from jali.core.errors import JaliError
from jali.stats.intervals import over_units
from jali.stats.ranks import Ranking, critical_distance, rank_apart, ranking

NAMES = tuple("abcdefgh")


def test_the_largest_value_has_rank_one_and_ties_share():
    found = ranking(NAMES[:3], np.array([[3.0, 2, 1], [5, 5, 1], [1, 1, 1]]))
    np.testing.assert_allclose(found.rank, [(1 + 1.5 + 2) / 3, (2 + 1.5 + 2) / 3, (3 + 3 + 2) / 3])


@pytest.mark.parametrize("decimals", [1, 5])
@pytest.mark.parametrize(("n", "k"), [(14, 4), (6, 6), (10, 3), (36, 8)])
def test_the_friedman_test_is_that_of_scipy_with_ties_and_without(n, k, decimals):
    values = (np.random.default_rng(n).normal(size=(n, k)) + 0.2 * np.arange(k)).round(decimals)
    found, other = ranking(NAMES[:k], values), friedmanchisquare(*values.T)
    assert found.statistic == pytest.approx(other.statistic)
    assert found.p == pytest.approx(other.pvalue)


def test_two_methods_by_hand():
    """a better in all of 4: statistic 12 * 4 / 6 * (1/4 + 1/4) = 4; the normal quantile gives the distance."""
    found = ranking("ab", np.array([[2.0, 1], [3, 1], [9, 8], [4, 0]]))
    assert found.rank.tolist() == [1, 2]
    assert found.statistic == pytest.approx(4)
    assert found.distance == pytest.approx(norm.ppf(0.975) / math.sqrt(4))


def test_the_distance_agrees_with_the_p_values_of_scikit_posthocs():
    """posthoc_nemenyi_friedman of scikit-posthocs 0.17.1 on this table; it has ties in two rows."""
    values = np.array(
        [
            [0.70, 0.77, 0.81, 0.79, 0.81],
            [0.63, 0.70, 0.73, 0.79, 0.64],
            [0.76, 0.78, 0.98, 0.97, 0.72],
            [0.78, 0.79, 0.86, 0.81, 0.85],
            [0.71, 0.75, 0.78, 0.79, 0.77],
            [0.30, 0.69, 0.78, 0.79, 0.79],
            [0.49, 0.78, 0.46, 0.78, 0.82],
        ]
    )
    theirs = [
        [0.6037840072321281, 0.02574448604357027, 0.011544094425228746, 0.08291860072894208],
        [0.5485287274215841, 0.38833401389676414, 0.8073036951747581],
        [0.9990913093024854, 0.9933494894262604],
        [0.961612230883621],
    ]
    found = ranking(NAMES[:5], values)
    apart = np.abs(found.rank[:, None] - found.rank)[np.triu_indices(5, 1)]
    np.testing.assert_array_equal(apart >= found.distance, np.concatenate(theirs) <= 0.05)


@pytest.mark.parametrize(
    ("methods", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (8, 3.031), (10, 3.164)]
)
def test_the_quantiles_are_those_of_the_tables(methods, q):
    """q at 5 % for infinitely many degrees of freedom, divided by sqrt 2, to three digits."""
    distance = critical_distance(methods, 1) / math.sqrt(methods * (methods + 1) / 6)
    assert distance == pytest.approx(q, abs=1e-3)


def test_the_distance_is_where_the_p_value_is_five_per_cent():
    distance = critical_distance(6, 36)
    scale = math.sqrt(6 * 7 / (12 * 36))
    assert studentized_range.sf(distance / scale, 6, np.inf) == pytest.approx(0.05, abs=1e-8)
    assert critical_distance(6, 36, 0.9) < distance < critical_distance(6, 36, 0.99)


def test_one_in_twenty_rankings_of_equal_methods_finds_a_difference():
    """For 30 settings the largest difference of ranks exceeds the critical distance in about 5 % of draws."""
    rng, distance = np.random.default_rng(0), critical_distance(4, 30)
    rank = rng.random((4000, 30, 4)).argsort(axis=2).mean(axis=1)
    assert np.mean(np.ptp(rank, axis=1) >= distance) == pytest.approx(0.05, abs=0.012)


def test_bars_are_the_largest_sets_that_are_alike_by_brute_force():
    rng = np.random.default_rng(0)
    for _ in range(60):
        rank, distance = rng.uniform(1, 6, 6).round(2), rng.uniform(0.2, 4)
        found = Ranking(NAMES[:6], rank, distance, 0.0, 1.0, 9).alike()
        every = [
            set(s) for r in range(2, 7) for s in itertools.combinations(range(6), r) if np.ptp(rank[list(s)]) < distance
        ]
        largest = [s for s in every if not any(s < other for other in every)]
        assert sorted(map(sorted, found)) == sorted(map(sorted, largest))
        assert [min(rank[list(s)]) for s in found] == sorted(min(rank[list(s)]) for s in found)


def test_methods_that_never_differ_are_alike():
    found = ranking("abc", np.ones((5, 3)))
    assert found.statistic == 0
    assert found.p == 1
    assert found.alike() == [(0, 1, 2)]


@pytest.mark.parametrize("values", [np.ones((1, 3)), np.ones((4, 2)), np.full((4, 3), np.nan), np.ones(3)])
def test_bad_input_is_refused(values):
    with pytest.raises(JaliError, match="two or more methods in two or more settings"):
        ranking("abc", values)


def test_numbers_far_apart_give_certain_ranks_and_close_ones_both():
    """Two methods in one setting: drawn in another order with probability 1 - Phi(gap / (sd sqrt(2)))."""
    for gap, low in ((3.0, 1.0), (1.5, -1.0)):  # .1 % and 7 % of the draws: beyond 2.5 % and not
        value = np.array([[gap * math.sqrt(2), 0.0]])
        half = np.full((1, 2), norm.ppf(0.975))
        found = rank_apart(value, value - half, value + half, 0, 1, np.random.default_rng(0))
        assert (found.value, found.low, found.high, found.units) == (1.0, low, 1.0, 1)


def test_an_interval_of_ranks_may_lean_to_one_side():
    """The first is known to be no better than .6, so the second at .8 ranks above it, however low the first may be."""
    value = np.array([[0.5, 0.8]])
    found = rank_apart(value, np.array([[0.0, 0.79]]), np.array([[0.6, 0.81]]), 1, 0, np.random.default_rng(0))
    assert (found.value, found.low) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("targets", "spread", "noise"), [(3, 0.5, 0.1), (10, 0.1, 0.2), (30, 0.05, 0.2), (10, 0.3, 0.3)]
)
def test_intervals_of_ranks_cover_and_the_order_is_seldom_wrong(targets, spread, noise):
    """Six methods in twelve settings, with t-intervals over targets; 150 draws, so three errors below 92 % are 85 %."""
    rng = np.random.default_rng(targets)
    covered = 0
    wrong = 0
    for _ in range(150):
        truth = rng.uniform(0.2, 0.2 + spread, (12, 6))
        drawn = truth + noise * rng.standard_normal((targets, 12, 6))
        found = [[over_units(drawn[:, i, j], bounds=(-9.0, 9.0)) for j in range(6)] for i in range(12)]
        value, low, high = np.array([[(e.value, e.low, e.high) for e in row] for row in found]).transpose(2, 0, 1)
        apart = rank_apart(value, low, high, 0, 1, rng)
        ranks = np.argsort(np.argsort(-truth, axis=1), axis=1)
        expected = (ranks[:, 1] - ranks[:, 0]).mean()
        covered += apart.low <= expected + 1e-9 and expected - 1e-9 <= apart.high
        wrong += apart.low > 0 > expected or apart.high < 0 < expected
    assert covered >= 0.85 * 150
    assert wrong <= 0.03 * 150
