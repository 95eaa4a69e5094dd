"""Integer noise has exactly the distribution that proofs assume."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from jali.core.errors import JaliError
from jali.privacy import discrete_noise
from jali.privacy.byte_sources import SystemRandom
from jali.privacy.discrete_noise import (
    LARGEST,
    Uniform,
    below,
    below_each,
    bernoulli_exp,
    bernoulli_exp_each,
    discrete_gaussian,
    discrete_laplace,
    gaussian_noise,
    laplace_each,
    zcdp_for,
)

DRAWS = 2500


def drawn(draw) -> Counter:
    rng = np.random.default_rng(11)
    return Counter(draw(rng) for _ in range(DRAWS))


def fits(found: Counter, weight, reach: int) -> float:
    """p-value of a chi-square test of draws against weights of the whole numbers up to `reach` either side."""
    inner = list(range(-reach, reach + 1))
    total = sum(weight(x) for x in range(-60, 61))
    expected = [DRAWS * weight(x) / total for x in inner]
    observed = [found[x] for x in inner]
    rest = DRAWS - sum(expected)
    return float(chisquare([*observed, DRAWS - sum(observed)], [*expected, rest]).pvalue)


@pytest.mark.parametrize("scale", [Fraction(3, 2), Fraction(5, 7)])
def test_discrete_laplace(scale):
    found = drawn(lambda rng: discrete_laplace(scale, rng))
    assert fits(found, lambda x: math.exp(-abs(x) / scale), 3) > 0.001
    assert fits(found, lambda x: math.exp(-abs(x) / (1.25 * scale)), 3) < 1e-5


def test_discrete_gaussian():
    found = drawn(lambda rng: discrete_gaussian(Fraction(9, 4), rng))
    assert fits(found, lambda x: math.exp(-x * x / 4.5), 4) > 0.001
    assert fits(found, lambda x: math.exp(-x * x / 6), 4) < 1e-5


@pytest.mark.parametrize("gamma", [Fraction(0), Fraction(1, 3), Fraction(5, 2)])
def test_bernoulli_exp(gamma):
    rng = np.random.default_rng(5)
    hits = sum(bernoulli_exp(gamma, rng) for _ in range(4000))
    p = math.exp(-gamma)
    assert abs(hits - 4000 * p) <= 4 * math.sqrt(4000 * p * (1 - p))


def test_a_seed_repeats_the_noise_and_the_system_does_not():
    draw = [gaussian_noise((20,), Fraction(100), np.random.default_rng(3)).tolist() for _ in range(2)]
    assert draw[0] == draw[1]
    other = [gaussian_noise((20,), Fraction(100), SystemRandom()).tolist() for _ in range(2)]
    assert other[0] != other[1]
    assert {below(5, SystemRandom()) for _ in range(100)} == set(range(5))


def test_rho_solves_the_conversion():
    rho = zcdp_for(0.7, 1e-6)
    assert rho + 2 * math.sqrt(rho * math.log(1e6)) == pytest.approx(0.7)


# --- many at once --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1, 3])
def test_many_laplace_numbers_have_the_distribution_of_one(scale):
    found = Counter(laplace_each(np.full(DRAWS, scale), np.random.default_rng(4)).tolist())
    assert fits(found, lambda x: math.exp(-abs(x) / scale), 3) > 0.001
    assert fits(found, lambda x: math.exp(-abs(x) / (1.25 * scale)), 3) < 1e-5


def test_exact_arithmetic_decides_as_double_precision_does(monkeypatch):
    """Whatever lies near a probability gets more digits: here that is everything."""
    monkeypatch.setattr(discrete_noise, "NEAR", 2.0**60)
    scale = np.full(400, 3)
    found = laplace_each(scale, np.random.default_rng(4))
    monkeypatch.undo()
    assert np.array_equal(found, laplace_each(scale, np.random.default_rng(4)))


def test_a_number_at_a_probability_gets_more_digits():
    rng = np.random.default_rng(0)
    with localcontext(prec=40):
        chance = Decimal(-1).exp() * 2**53
        at = math.floor(chance)
        expected = float(chance - at)
    share = np.mean([Uniform(at, rng).below_exp(Fraction(1)) for _ in range(1000)])
    assert share == pytest.approx(expected, abs=0.06)
    tiny = Uniform(0, rng)
    assert tiny.below_exp(Fraction(36))
    assert not tiny.below_exp(Fraction(1000))


def test_each_number_has_its_own_scale():
    scale = np.tile([10, 10**9], (4000, 1))
    found = laplace_each(scale, np.random.default_rng(0)) / scale
    for column in found.T:
        assert np.abs(column).mean() == pytest.approx(1.0, abs=0.07)
        assert abs(np.median(column)) < 0.07


def test_the_largest_scale_stays_within_64_bits():
    far = laplace_each(np.full(2000, LARGEST), np.random.default_rng(1)) / LARGEST
    assert np.abs(far).mean() == pytest.approx(1.0, abs=0.1)
    for wrong in (0, LARGEST + 1):
        with pytest.raises(JaliError, match="less extreme"):
            laplace_each(np.array([wrong]), np.random.default_rng(0))


def test_numbers_below_each_are_uniform():
    n = np.repeat([1, 3, 2**60], 3000)
    found = below_each(n, np.random.default_rng(2)).reshape(3, -1)
    assert not found[0].any()
    assert chisquare(np.bincount(found[1], minlength=3)).pvalue > 0.001
    assert (found[2] / 2**60).mean() == pytest.approx(0.5, abs=0.02)


def test_many_coins_with_a_probability_of_an_exponential():
    over = np.repeat([0, 1, 2], 4000)
    found = bernoulli_exp_each(over, np.full(12_000, 2), np.random.default_rng(3)).reshape(3, -1).sum(axis=1)
    assert found[0] == 4000
    for hits, p in zip(found[1:], np.exp([-0.5, -1.0]), strict=True):
        assert abs(hits - 4000 * p) <= 4 * math.sqrt(4000 * p * (1 - p))
