from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy import stats

from jali.core.errors import JaliError
from jali.stats.moments import (
    Moments,
    first_seen,
    moments,
    moments_of_sets,
    pooled_variance,
    predictive,
    student_logpdf,
    total,
    whole,
)


def cells(n: int = 30, k: int = 7, seed: int = 0):
    rng = np.random.default_rng(seed)
    return rng.normal(5, 2, size=(n, k)), rng.random((n, k)) < rng.random((n, 1))


def test_against_loops():
    value, use = cells()
    got = moments(value, use)
    assert {0, 1} <= set(got.count)
    for i in range(len(value)):
        row = value[i][use[i]]
        assert got.count[i] == len(row)
        assert got.mean[i] == pytest.approx(row.mean() if len(row) else 0.0)
        assert got.variance[i] == pytest.approx(row.var(ddof=1) if len(row) > 1 else 0.0)


@pytest.mark.parametrize("junk", [1e308, -1e308, np.inf, np.nan])
def test_unused_cells_have_no_influence(junk: float):
    value, use = cells()
    other = moments(np.where(use, value, junk), use)
    for name in ("count", "mean", "variance"):
        np.testing.assert_array_equal(getattr(moments(value, use), name), getattr(other, name))


def test_two_passes_survive_a_large_offset():
    value, use = cells()
    np.testing.assert_allclose(moments(value + 1e9, use).variance, moments(value, use).variance, rtol=1e-5, atol=1e-6)


def test_inputs_stay_as_they_are():
    value, use = cells()
    before = value.copy()
    value.setflags(write=False)
    use.setflags(write=False)
    moments(value, use)
    np.testing.assert_array_equal(value, before)


def test_no_models_at_all():
    got = moments(np.zeros((3, 0)), np.zeros((3, 0), dtype=bool))
    np.testing.assert_array_equal([got.count, got.mean, got.variance], np.zeros((3, 3)))


def test_pooled_variance_weighs_records_alike():
    value, use = cells()
    rows = [v[u].var(ddof=1) for v, u in zip(value, use, strict=True) if u.sum() >= 2]
    assert pooled_variance(moments(value, use)) == pytest.approx(np.mean(rows))
    with pytest.raises(JaliError, match="two models"):
        pooled_variance(moments(value[:, :1], use[:, :1]))


def test_total():
    value, use = cells()
    assert total(value, use) == pytest.approx((value[use].mean(), value[use].var(ddof=1)))
    assert total(value, np.zeros_like(use)) == (0.0, 0.0)


def test_student_against_scipy():
    rng = np.random.default_rng(1)
    x, df, loc, scale2 = rng.normal(size=50), rng.uniform(1, 40, 50), rng.normal(size=50), rng.uniform(0.1, 4, 50)
    expected = stats.t.logpdf(x, df, loc=loc, scale=np.sqrt(scale2))
    np.testing.assert_allclose(student_logpdf(x, df, loc, scale2), expected)


def test_predictive_against_loops():
    value, use = cells()
    found, fallback = moments(value, use), total(value, use)
    df, loc, scale2 = predictive(found, 3.0, fallback)
    pooled = pooled_variance(found)
    for i, (k, m, s2) in enumerate(zip(found.count, found.mean, found.variance, strict=True)):
        if k == 0:
            expected = 6.0, fallback[0], 2 / 3 * fallback[1]
        else:
            a, b = 3 + (k - 1) / 2, 2 * pooled + (k - 1) * s2 / 2
            expected = 2 * a, m, b * (k + 1) / (a * k)
        assert (df[i], loc[i], scale2[i]) == pytest.approx(expected)


def test_predictive_against_integration():
    """Average the normal density over the posterior of (mean, variance) by Monte Carlo."""
    row = np.array([0.3, 1.1, -0.4, 0.9])
    found = moments(np.stack([row, 2 * row]), np.ones((2, 4), dtype=bool))
    a, b = 2.5 + 3 / 2, 1.5 * pooled_variance(found) + 3 / 2 * found.variance[0]
    variance = stats.invgamma.rvs(a, scale=b, size=400_000, random_state=0)
    centre = stats.norm.rvs(found.mean[0], np.sqrt(variance / 4), random_state=1)
    density = stats.norm.pdf(1.7, centre, np.sqrt(variance)).mean()
    df, loc, scale2 = predictive(found, 2.5, (0.0, 1.0))
    assert np.exp(student_logpdf(np.full(2, 1.7), df, loc, scale2))[0] == pytest.approx(density, rel=0.01)


def test_predictive_with_nothing_to_go_by():
    single = Moments(np.array([1, 0]), np.array([4.0, 0.0]), np.zeros(2))
    df, loc, scale2 = predictive(single, 2.0, (1.0, 3.0))
    np.testing.assert_allclose([df, loc, scale2], [[4, 4], [4, 1], [3, 1.5]])
    flat = Moments(np.array([5]), np.array([1.0]), np.array([0.0]))
    assert np.isfinite(student_logpdf(np.array([2.0]), *predictive(flat, 2.0, (1.0, 0.0)))).all()
    with pytest.raises(JaliError, match="above 1"):
        predictive(flat, 1.0, (0.0, 1.0))


def calls(n: int) -> int:
    """How many functions are called for the moments of n records."""
    rng, called = np.random.default_rng(0), []
    value, use = rng.normal(size=(n, 127)), rng.random((n, 127)) < 0.5
    sys.setprofile(lambda _, event, __: called.append(event))
    moments(value, use)
    sys.setprofile(None)
    return len(called)


def test_records_are_summed_together_and_not_one_by_one():
    assert calls(5000) == calls(5)


def test_moments_of_sets_are_those_of_each_set():
    rng = np.random.default_rng(3)
    value = 1e4 + rng.normal(size=(400, 11))
    use = rng.random((400, 11)) < 0.5
    sets = rng.random((6, 11)) < 0.6
    found = moments_of_sets(value, use, first_seen(value, np.ones_like(use)), sets)
    for mine, each in zip(sets, found, strict=True):
        there = moments(value, use & mine)
        np.testing.assert_array_equal(each.count, there.count)
        np.testing.assert_allclose(each.mean, there.mean, rtol=1e-14)
        np.testing.assert_allclose(each.variance, there.variance, rtol=1e-10, atol=1e-12)
        assert whole(each) == pytest.approx(total(value, use & mine), rel=1e-10)
    assert whole(Moments(np.zeros(2, dtype=np.int64), np.zeros(2), np.zeros(2))) == (0.0, 0.0)
