"""Integer noise has exactly the distribution that proofs assume."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from jali.privacy.discrete_noise import (
    SystemRandom,
    below,
    bernoulli_exp,
    discrete_gaussian,
    discrete_laplace,
    gaussian_noise,
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
