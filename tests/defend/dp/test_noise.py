from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from jali.defend._dp.noise import farthest, laplace, noised, shift
from jali.privacy.snapped_noise import Grid, ball


@pytest.mark.parametrize("width", [1, 3, 20])
def test_length_is_gamma_and_direction_uniform(width):
    b = ball(20_000, width, 0.7, np.random.default_rng(width))
    length = np.linalg.norm(b, axis=1)
    assert stats.kstest(length, stats.gamma(width, scale=0.7).cdf).pvalue > 1e-3
    unit = b / length[:, None]
    if width > 1:  # the square of one coordinate of a uniform direction
        assert stats.kstest(unit[:, 0] ** 2, stats.beta(0.5, (width - 1) / 2).cdf).pvalue > 1e-3
    assert abs(np.corrcoef(length, unit[:, 0])[0, 1]) < 0.03
    np.testing.assert_allclose(unit.mean(axis=0), 0, atol=4 / np.sqrt(20_000))


def test_one_dimension_is_laplace():
    b = ball(20_000, 1, 2.0, np.random.default_rng(0))[:, 0]
    assert stats.kstest(b, stats.laplace(scale=2.0).cdf).pvalue > 1e-3


def test_a_share_beta_lies_farther():
    b = ball(50_000, 6, 0.3, np.random.default_rng(1))
    assert (np.linalg.norm(b, axis=1) > farthest(0.1, 6, 0.3)).mean() == pytest.approx(0.1, abs=0.005)


def test_laplace_noise_goes_with_the_record_not_with_its_place():
    X = np.random.default_rng(0).normal(size=(50, 3))
    scale = np.full((50, 2), 1000)
    forward = laplace(X, scale, np.random.default_rng(5))
    np.testing.assert_array_equal(laplace(X[::-1], scale, np.random.default_rng(5))[::-1], forward)


def test_equal_records_get_noise_of_their_own():
    grid = Grid(np.ones((20_000, 1)), 1.0)
    noise = noised(np.zeros((20_000, 2)), np.zeros((20_000, 1)), grid, np.random.default_rng(0))[:, 0]
    assert len(np.unique(noise)) > 0.98 * len(noise)  # multiples of a millionth
    assert stats.kstest(noise, stats.laplace.cdf).pvalue > 1e-3
    assert (noise > shift(0.05)).mean() == pytest.approx(0.05, abs=0.006)
