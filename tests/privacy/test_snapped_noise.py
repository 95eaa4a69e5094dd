"""Noise on a grid: its distribution, its proof on whole numbers, and the errors that it hides."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from jali.privacy.snapped_noise import Grid, Settling, ball, exponentials, longest, steps_of


def test_steps_are_powers_of_two():
    size = np.array([1.0, 0.75, 3.0, 1e-9])
    step = steps_of(size)
    assert (np.frexp(step)[0] == 0.5).all()
    assert ((step <= size) & (size < 2 * step)).all()


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 50.0])
@pytest.mark.parametrize("sensitivity", [1e-6, 0.3, 40.0])
def test_noise_is_at_least_what_whole_numbers_need_and_hardly_more(epsilon, sensitivity):
    grid = Grid(np.array(sensitivity), epsilon)
    step = float(grid.step)
    # Two values that a record moves apart by all that is allowed, each rounded: the ratio of the chances of any
    # whole answer is exp(distance / scale), which must not exceed epsilon.
    values = np.random.default_rng(0).normal(size=500) * 10 * sensitivity
    apart = np.abs(grid.whole(values + sensitivity) - grid.whole(values)).max()
    assert apart / int(grid.scale()) <= epsilon
    assert int(grid.scale()) * step == pytest.approx(sensitivity / epsilon, rel=2e-5)
    assert int(grid.scale(4.0)) == pytest.approx(4 * int(grid.scale()), rel=1e-5)


def test_settling_hides_its_error():
    settling = Settling(1e-7, 0.01, 30)
    rng = np.random.default_rng(0)
    exact = rng.normal(size=(300, 30))
    away = rng.normal(size=(2, 300, 30))
    away *= settling.error / np.linalg.norm(away, axis=2, keepdims=True)
    first, second = (np.rint((exact + e) / settling.step) for e in away)
    far = np.rint((exact + settling.error / math.sqrt(30)) / settling.step)
    near = np.rint((exact - settling.error / math.sqrt(30)) / settling.step)
    for one, other in ((first, second), (far, near)):
        assert np.abs(one - other).sum(axis=1).max() / settling.scale <= settling.epsilon


def test_settled_values_lie_on_the_grid_around_their_value():
    settling = Settling(1e-6, 1.0, 4)
    noise = settling.noise(5000, np.random.default_rng(1))
    value = np.full((5000, 4), 1 / 3)
    settled = settling.settled(value, noise)
    assert np.array_equal(np.rint(settled / settling.step) * settling.step, settled)
    assert settled.mean() == pytest.approx(1 / 3, abs=1e-5)
    beyond = np.linalg.norm(settled - value, axis=1) > settling.reach(0.1)
    assert beyond.mean() <= 0.1


def test_exponentials_are_exponential_also_where_they_are_small():
    drawn = exponentials(20_000, np.random.default_rng(0))
    assert stats.kstest(drawn, stats.expon.cdf).pvalue > 1e-3
    assert stats.kstest(drawn[drawn < 0.01] / 0.01, stats.uniform.cdf).pvalue > 1e-3


def test_hardly_any_draw_is_longer_than_the_longest():
    assert stats.gamma(5, scale=2.0).sf(longest(5, 2.0)) < 2.0**-60
    assert stats.gamma(200, scale=2.0).sf(longest(200, 2.0)) < 2.0**-60
    assert np.linalg.norm(ball(1000, 5, 2.0, np.random.default_rng(0)), axis=1).max() < longest(5, 2.0)
