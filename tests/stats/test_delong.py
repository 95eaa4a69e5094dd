from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from jali.core.errors import JaliError
from jali.core.values import Bools, Floats
from jali.stats.delong import delong, delong_difference, placements
from jali.stats.roc import auc


def naive(scores: list[Floats], truth: Bools) -> tuple[Floats, Floats]:
    """AUCs and their covariance from the full table of comparisons, O(m n)."""
    kernels = [(s[truth][:, None] > s[~truth]) + 0.5 * (s[truth][:, None] == s[~truth]) for s in scores]
    rows, columns = [k.mean(1) for k in kernels], [k.mean(0) for k in kernels]
    m, n = kernels[0].shape
    cov = np.atleast_2d(np.cov(rows)) / m + np.atleast_2d(np.cov(columns)) / n
    return np.array([k.mean() for k in kernels]), cov


def pair(n: int, seed: int, digits: int) -> tuple[Floats, Floats, Bools]:
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.4
    common = rng.normal(size=n) + 0.6 * truth
    return (common + rng.normal(size=n)).round(digits), (common + 0.5 * rng.normal(size=n)).round(digits), truth


@pytest.mark.parametrize("digits", [0, 1, 8])
def test_against_the_full_table(digits: int):
    a, b, truth = pair(150, 3, digits)
    values, cov = naive([a, b], truth)
    z = norm.ppf(0.95)
    one = delong(a, truth, level=0.9)
    assert one.value == pytest.approx(values[0]) == pytest.approx(auc(a, truth))
    assert one.high == pytest.approx(values[0] + z * np.sqrt(cov[0, 0]))
    two = delong_difference(a, b, truth, level=0.9)
    assert two.value == pytest.approx(values[0] - values[1])
    assert two.low == pytest.approx(two.value - z * np.sqrt(cov[0, 0] + cov[1, 1] - 2 * cov[0, 1]))
    assert (one.units, two.units) == (1, 1)


def test_placements_average_to_the_auc():
    a, _, truth = pair(200, 1, 1)
    of_members, of_others = placements(a, truth)
    assert of_members.mean() == pytest.approx(auc(a, truth)) == pytest.approx(of_others.mean())


def test_infinite_scores_are_placed():
    of_members, of_others = placements(np.array([np.inf, 0.0, np.inf]), np.array([True, False, False]))
    np.testing.assert_allclose(of_members, [0.75])
    np.testing.assert_allclose(of_others, [1.0, 0.5])


def test_separation_is_not_certainty():
    """Ten pairs in order leave room for an AUC of 0.025^(1/10)."""
    score, truth = np.arange(30.0), np.arange(30) >= 20
    up, down = delong(score, truth), delong(-score, truth)
    assert (up.value, up.high) == (1.0, 1.0)
    assert up.low == pytest.approx(0.025**0.1)
    assert (down.value, down.low) == (0.0, 0.0)
    assert down.high == pytest.approx(1 - 0.025**0.1)


def test_too_few_to_say():
    estimate = delong(np.array([1.0, 0.0, 2.0]), np.array([True, False, False]))
    assert estimate.value == 0.5
    assert estimate.low is None
    assert "two members" in estimate.reason
    assert delong_difference(np.ones(2), np.ones(2), np.array([True, False])).high is None


def test_one_class_is_an_error():
    with pytest.raises(JaliError, match="both needed"):
        delong(np.ones(3), np.ones(3, dtype=bool))


def test_covers_in_simulation():
    rng, truth = np.random.default_rng(5), np.arange(160) < 80
    true = norm.cdf(0.8 / np.sqrt(2))
    estimates = [delong(rng.normal(size=160) + 0.8 * truth, truth) for _ in range(400)]
    assert 0.92 <= np.mean([e.low <= true <= e.high for e in estimates]) <= 0.98
