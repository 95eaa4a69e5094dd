from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from jali.core.values import Bools, Floats
from jali.stats.influence import influence, shared_covariance
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
