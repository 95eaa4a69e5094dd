from __future__ import annotations

import numpy as np
import pytest

from jali.defend._public import DEPLOYED
from jali.defend.dp_logistic import DPLogistic
from jali.models.logistic import Logistic
from jali.neighbours import adverse, fitted, pairs
from jali.tell import VIEWS, glance, learn

T = 1000


def worlds(first, second):
    return np.concatenate([first, second]), np.arange(2 * T) < T


def bounds(make, seed=0):
    rng = np.random.default_rng(seed)
    ways = learn(*worlds(make(rng, 0), make(rng, 1)), 0.0, rng)
    fresh = worlds(make(rng, 0), make(rng, 1))
    return {view: way.bound(*fresh, 0.0) for view, way in ways.items()}


def test_a_direction_that_never_varies_gives_itself_away():
    def release(rng, world):
        return rng.normal(size=(T, 1)) * np.array([[1.0, 0.01 * world, 0.0]])

    found = bounds(release)
    assert found["its direction"] > 5
    assert found["the whole answer"] > 5


def test_a_value_that_comes_back_gives_itself_away():
    def release(rng, world):
        length = np.where(rng.random(T) < 0.6, 2.0 + 1e-6 * world, rng.exponential(size=T) + 1)
        return length[:, None]

    assert bounds(release)["its length"] > 4


@pytest.mark.parametrize("seed", range(3))
def test_equal_worlds_show_nothing(seed):
    assert max(bounds(lambda rng, _: rng.normal(size=(T, 3)), seed).values()) < 0.25


def test_laplace_noise_shows_about_its_epsilon_and_not_more():
    # Sensitivity 1, scale 1/2: epsilon = 2, and the best threshold shows all of it but the width of the interval.
    found = bounds(lambda rng, world: world + rng.laplace(0, 0.5, size=(T, 1)))
    assert 1.2 < found["the whole answer"] <= 2.0


def test_opposite_directions_look_the_same():
    there = np.array([[3.0, -4.0], [-3.0, 4.0], [0.0, 0.0]])
    np.testing.assert_allclose(VIEWS["its direction"](there), [[-0.6, 0.8], [-0.6, 0.8], [0.0, 0.0]])


def test_an_answer_in_one_number_is_seen_as_it_is():
    np.testing.assert_array_equal(VIEWS["the whole answer"](np.array([[2.0], [-3.0]])), [[2.0], [-3.0]])
    assert VIEWS["the whole answer"](np.ones((4, 3))).shape == (4, 7)


def test_the_pair_that_tells_promises_more_even_where_nothing_is_shown_yet():
    rng = np.random.default_rng(0)
    near, far = (glance(*worlds(rng.normal(size=(T, 1)), by + rng.normal(size=(T, 1))), 0.0, rng) for by in (0, 0.1))
    assert near[0] == far[0] == 0
    assert far > near


# --- worlds --------------------------------------------------------------------------------------------------------


def test_the_neighbour_differs_in_one_label_and_the_query_is_decided_alike():
    pair = adverse(Logistic())
    assert (pair.data.X == pair.neighbour.X).all()
    assert (pair.data.y != pair.neighbour.y).sum() == 1
    here, there = (fitted(Logistic(), d).logits(pair.query).argmax() for d in (pair.data, pair.neighbour))
    assert here == there


@pytest.mark.parametrize("trainer", [Logistic(), DEPLOYED, DPLogistic(1.0, bound=1.0).plain()])
def test_every_pair_differs_in_one_record_and_decides_its_query_alike(trainer):
    found = pairs(trainer, 0)
    assert [pair.name for pair in found] == ["wide", "steep", "flat", "moved"]
    for pair in found:
        a, b = (np.column_stack([d.X, d.y]) for d in (pair.data, pair.neighbour))
        assert (a != b).any(axis=1).sum() == 1
        here, there = (fitted(trainer, d).logits(pair.query).argmax() for d in (pair.data, pair.neighbour))
        assert here == there
        assert len(set(pair.data.y)) == len(set(pair.neighbour.y)) == 2


def test_one_label_moves_a_lightly_fitted_model_half_as_far_as_the_bound_for_any_fit():
    """Gradients of one record with one label and the other differ by its length, R; the bound allows 2 R."""
    for pair in pairs(DEPLOYED, 0)[1:3]:
        here, there = (fitted(DEPLOYED, d) for d in (pair.data, pair.neighbour))
        moved = np.hypot(
            *(
                np.diff(a - b, axis=-1).item()
                for a, b in ((here.coef[0], there.coef[0]), (here.intercept, there.intercept))
            )
        )
        assert 0.45 < moved / here.stability.weights <= 0.5
