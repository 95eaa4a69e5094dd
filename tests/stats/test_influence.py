from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from jali.core.values import Bools, Floats
from jali.stats.influence import influence, shared_covariance, spread
from jali.stats.roc import METRICS, auc, best_balanced_accuracy

HINDSIGHT = {"balanced_accuracy": best_balanced_accuracy}  # its effects take the threshold as given


def normal(n: int, seed: int = 0) -> tuple[Floats, Bools]:
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.5
    return rng.normal(size=n) + truth, truth


def test_auc_against_leaving_one_out():
    """Without member i the AUC changes by exactly -effect_i m / (m - 1)."""
    score, truth = normal(60)
    effect, value = influence("auc", score.round(1), truth), auc(score.round(1), truth)
    for i in range(60):
        rest = np.arange(60) != i
        size = np.count_nonzero(truth == truth[i])
        assert auc(score.round(1)[rest], truth[rest]) - value == pytest.approx(-effect[i] * size / (size - 1))


@pytest.mark.parametrize("metric", list(METRICS))
def test_effects_cancel_within_each_class(metric: str):
    score, truth = normal(4000)
    effect = influence(metric, score, truth)
    assert effect[truth].sum() == pytest.approx(0, abs=1e-12)
    assert effect[~truth].sum() == pytest.approx(0, abs=1e-12)


def test_mirror_image():
    score, truth = normal(2000)
    np.testing.assert_array_equal(influence("tnr@0.01", score, truth), influence("tpr@0.01", -score, ~truth))


@pytest.mark.parametrize("metric", ["auc", "balanced_accuracy", "tpr@0.01"])
def test_squares_sum_to_the_variance(metric: str):
    """The spread of a metric over 1,200 fresh draws (itself known to 4 %) against the spread its effects promise."""
    values, promised = [], []
    for seed in range(1200):
        score, truth = normal(3000, seed)
        values.append(HINDSIGHT.get(metric, METRICS[metric])(score, truth))
        promised.append((influence(metric, score, truth) ** 2).sum())
    assert np.mean(promised) / np.var(values) == pytest.approx(1, abs=0.15)


def test_slope_against_the_binormal_curve():
    score, truth = normal(200_000)
    effect = influence("tpr@0.01", score, truth)
    low, high = norm.sf(norm.isf([0.005, 0.015]) - 1)
    of_one_flagged = effect[~truth].min() * np.count_nonzero(~truth)
    assert of_one_flagged == pytest.approx(-0.99 * (high - low) / 0.01, rel=0.03)


def test_heavy_ties_have_no_slope():
    score, truth = np.array([1.0, 1.0, 0.0, 0.0]), np.array([True, False, True, False])
    np.testing.assert_array_equal(influence("tpr@0.01", score, truth), 0.0)


def test_shared_covariance_against_loops():
    rng = np.random.default_rng(2)
    effect = rng.normal(size=(4, 9)) + rng.normal(size=9)
    unit, record = np.indices((4, 9))
    pairs = [effect[t] @ effect[s] for t in range(4) for s in range(4) if t != s]
    got = shared_covariance(effect.ravel(), unit.ravel(), record.ravel())
    assert got == pytest.approx(np.mean(pairs))


def test_shared_covariance_is_never_negative():
    effect = np.array([0.1, -0.1, -0.1, 0.1])
    assert shared_covariance(effect, np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])) == 0.0


def test_shared_covariance_sums_the_rows_of_a_person():
    rng = np.random.default_rng(3)
    effect = rng.normal(size=(3, 12))
    unit, record = np.indices((3, 12))
    each = effect.reshape(3, 4, 3).sum(axis=2)
    pairs = [each[t] @ each[s] for t in range(3) for s in range(3) if t != s]
    expected = max(0.0, np.mean(pairs))
    assert shared_covariance(effect.ravel(), unit.ravel(), record.ravel() // 3) == pytest.approx(expected)
    found = spread(effect.ravel(), unit.ravel(), record.ravel() // 3)
    assert found.within == pytest.approx((each**2).sum() / 9)
    assert found.shared == shared_covariance(effect.ravel(), unit.ravel(), record.ravel() // 3)


def test_degrees_of_freedom_count_people_who_matter():
    """As many as people where the effects are normal, few where a few people carry the variance."""
    rng, unit, person = np.random.default_rng(4), np.zeros(5000, dtype=int), np.arange(5000)
    assert spread(rng.normal(size=5000), unit, person).freedom == pytest.approx(5000, rel=0.1)
    few = np.where(person < 3, 1.0, 0.0)
    assert spread(few, unit, person).freedom == pytest.approx(6, rel=0.01)
    assert spread(0 * few, unit, person).freedom == np.inf
