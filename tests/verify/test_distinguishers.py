from __future__ import annotations

import numpy as np
import pytest

from jali.stats.epsilon import epsilon_ceiling
from jali.verify.answers import vectors
from jali.verify.distinguishers import learn, strongest
from jali.verify.views import direction, whole

T = 1000


def both(first, second):
    return vectors(np.concatenate([first, second])), np.arange(2 * T) < T


def bounds(make, seed=0):
    rng = np.random.default_rng(seed)
    ways = learn(*both(make(rng, 0), make(rng, 1)), 0.0, rng)
    fresh = both(make(rng, 0), make(rng, 1))
    return {view: way.bound(*fresh, 0.0) for view, way in ways.items()}


def test_a_direction_that_never_varies_gives_itself_away():
    def release(rng, second):
        return rng.normal(size=(T, 1)) * np.array([[1.0, 0.01 * second, 0.0]])

    found = bounds(release)
    assert found["its direction"] > 5
    assert found["the whole answer"] > 5


def test_a_value_that_comes_back_gives_itself_away():
    def release(rng, second):
        length = np.where(rng.random(T) < 0.6, 2.0 + 1e-6 * second, rng.exponential(size=T) + 1)
        return length[:, None]

    assert bounds(release)["its length"] > 4


@pytest.mark.parametrize("seed", range(3))
def test_equal_data_sets_show_nothing(seed):
    assert max(bounds(lambda rng, _: rng.normal(size=(T, 3)), seed).values()) < 0.25


def test_laplace_noise_shows_about_its_epsilon_and_not_more():
    # Sensitivity 1, scale 1/2: epsilon = 2, and the best threshold shows all of it but the width of the interval.
    found = bounds(lambda rng, second: second + rng.laplace(0, 0.5, size=(T, 1)))
    assert 1.2 < found["the whole answer"] <= 2.0


def test_opposite_directions_look_the_same():
    there = np.array([[3.0, -4.0], [-3.0, 4.0], [0.0, 0.0]])
    np.testing.assert_allclose(direction(there), [[-0.6, 0.8], [-0.6, 0.8], [0.0, 0.0]])


def test_an_answer_in_one_number_is_seen_as_it_is():
    np.testing.assert_array_equal(whole(np.array([[2.0], [-3.0]])), [[2.0], [-3.0]])
    assert whole(np.ones((4, 3))).shape == (4, 7)


def test_the_pair_that_differs_ranks_higher_even_where_no_bound_is_shown_yet():
    rng = np.random.default_rng(0)
    near, far = (
        strongest(learn(*both(rng.normal(size=(T, 1)), by + rng.normal(size=(T, 1))), 0.0, rng)).held_out
        for by in (0, 0.2)
    )
    assert near[0] == far[0] == 0
    assert far > near


def test_what_never_varies_is_told_apart_without_a_miss():
    """The threshold lies between what was seen, so that draws a little beyond it are on the right side."""

    def release(rng, second):
        return np.column_stack([rng.normal(size=T), 0.2 * rng.random(T) + second])

    for seed in range(5):
        assert bounds(release, seed)["the whole answer"] == pytest.approx(epsilon_ceiling(T), abs=1e-9)
