from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom

from jali.core.errors import JaliError
from jali.core.values import Bools, Floats
from jali.stats.epsilon import epsilon_at, epsilon_ceiling, epsilon_lower_bound, event_bound, rarest_event
from jali.stats.intervals import clopper_pearson


def respond(truth: Bools, eps: float, rng: np.random.Generator) -> Floats:
    """Randomised response: the truth with probability e^eps / (1 + e^eps)."""
    return (truth ^ (rng.random(len(truth)) > expit(eps))).astype(float)


@pytest.mark.parametrize(("n", "expected"), [(100, 3.28), (1_000, 5.60), (10_000, 7.90)])
def test_ceiling(n: int, expected: float):
    assert epsilon_ceiling(n) == pytest.approx(expected, abs=0.01)
    low, _ = clopper_pearson(n, n)
    _, high = clopper_pearson(0, n)
    assert epsilon_ceiling(n) == pytest.approx(np.log(low / high))


@pytest.mark.parametrize("delta", [0.01, 0.3])
def test_ceiling_leaves_delta_out(delta: float):
    truth = np.arange(2000) < 1000
    assert epsilon_ceiling(1000, delta=delta) == pytest.approx(epsilon_at(0.5, truth * 1.0, truth, delta))
    assert epsilon_ceiling(1000, delta=delta) < epsilon_ceiling(1000)


def test_nothing_is_shown_where_delta_excuses_everything():
    assert epsilon_ceiling(1000, delta=0.999) == 0
    assert epsilon_ceiling(1000, delta=1.0) == 0


def test_perfect_attack_reaches_the_ceiling_of_its_counting_half():
    truth = np.arange(400) < 200
    assert epsilon_lower_bound(truth * 1.0, truth, rng=np.random.default_rng(0)) == pytest.approx(epsilon_ceiling(100))


def test_by_hand():
    """Binary scores leave one threshold, so only the counts of the second half matter."""
    truth = np.arange(4000) < 2000
    score = np.where(truth, np.arange(4000) % 2, 0.0)
    got = epsilon_lower_bound(score, truth, delta=0.1, rng=np.random.default_rng(4))
    half = np.random.default_rng(4).permutation(np.arange(2000))[1000:]
    low, _ = clopper_pearson(int(score[half].sum()), 1000)
    _, high = clopper_pearson(0, 1000)
    assert got == pytest.approx(np.log((low - 0.1) / high))


def test_mirrored_direction_counts():
    """Half of the non-members are cleared for certain: only TNR / FNR can show it."""
    truth = np.arange(4000) < 2000
    score = np.where(truth, 1.0, np.arange(4000) % 2)
    assert epsilon_lower_bound(score, truth, rng=np.random.default_rng(0)) > 4


def test_never_below_zero():
    truth = np.arange(200) < 100
    for score in (np.zeros(200), -1.0 * truth, np.random.default_rng(0).normal(size=200)):
        assert epsilon_lower_bound(score, truth, rng=np.random.default_rng(1)) >= 0.0


def test_errors():
    rng = np.random.default_rng(0)
    with pytest.raises(JaliError, match="at least two members"):
        epsilon_lower_bound(np.arange(5.0), np.arange(5) == 0, rng=rng)
    with pytest.raises(JaliError, match="delta"):
        epsilon_lower_bound(np.arange(5.0), np.arange(5) < 2, delta=-0.1, rng=rng)
    with pytest.raises(JaliError, match="at least one draw"):
        epsilon_ceiling(0)


@pytest.mark.parametrize("eps", [0.5, 2.0])
def test_holds_for_randomised_response(eps: float):
    rng, truth = np.random.default_rng(7), np.arange(1000) < 500
    bounds = [epsilon_lower_bound(respond(truth, eps, rng), truth, rng=rng) for _ in range(400)]
    assert np.mean(np.array(bounds) > eps) <= 0.05


def test_holds_when_there_are_many_thresholds_to_choose_from():
    """The Laplace mechanism attains its epsilon in both tails; 200 thresholds invite a choice in hindsight."""
    rng, truth, eps = np.random.default_rng(8), np.arange(400) < 200, 1.0
    bounds = [epsilon_lower_bound(truth + rng.laplace(scale=1 / eps, size=400), truth, rng=rng) for _ in range(400)]
    assert np.mean(np.array(bounds) > eps) <= 0.05


def test_delta_is_accounted_for():
    """A mechanism that gives the truth away with probability delta and answers (eps)-privately otherwise."""
    rng, truth, eps, delta = np.random.default_rng(9), np.arange(2000) < 1000, 0.5, 0.1
    bounds = []
    for _ in range(200):
        caught = rng.random(2000) < delta
        score = np.where(caught, 3.0 * truth - 1.0, respond(truth, eps, rng))
        bounds.append(epsilon_lower_bound(score, truth, delta=delta, rng=rng))
    assert np.mean(np.array(bounds) > eps) <= 0.05


def test_within_reach_for_many_draws():
    rng, truth = np.random.default_rng(3), np.arange(200_000) < 100_000
    assert 0.95 < epsilon_lower_bound(respond(truth, 1.0, rng), truth, rng=rng) <= 1.0


# --- the ratio of two rates ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("n", [60, 200])
def test_the_bound_on_a_ratio_is_wrong_no_more_often_than_it_says(n, epsilon):
    """Exactly, by the binomial laws of both counts, for rates p and e^epsilon p."""
    counts = np.arange(n + 1)
    more, less = np.meshgrid(counts, counts, indexing="ij")
    wrong = event_bound(more, less, n, 0.0, 0.05) > epsilon
    for p in np.geomspace(1e-3, np.exp(-epsilon), 60):
        high = min(1.0, np.exp(epsilon) * p)
        assert binom.pmf(counts, n, high) @ wrong @ binom.pmf(counts, n, p) <= 0.05


def test_a_delta_is_subtracted_from_the_rate():
    more, less = np.array([100]), np.array([5])
    assert event_bound(more, less, 1000, 0.05, 0.025) < event_bound(more, less, 1000, 0.0, 0.025)
    assert event_bound(more, less, 1000, 0.2, 0.025) == 0


def test_the_rarest_event_is_shown_as_often_as_it_says():
    rate = rarest_event(2000, 1.0, 0.0, 0.0125)
    counts = np.arange(2001)
    shown = event_bound(counts, np.zeros_like(counts), 2000, 0.0, 0.0125) > 1.0
    assert binom.pmf(counts, 2000, rate) @ shown == pytest.approx(0.9)
    assert rarest_event(2000, 7.0, 0.0, 0.0125) is None
