"""Accountants of noisy sums over samples: closed forms, another library, and what a paper's noise really cost."""

from __future__ import annotations

import math
import warnings

import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from jali.core import JaliError
from jali.defend._sampled import divergences, losses, noise_for

pytest.importorskip("dp_accounting", reason="the extra jali[dp] is not installed")

DELTA = 1e-5


def gaussian(mu, delta=DELTA):
    """Epsilon of one Gaussian mechanism, in closed form (Balle and Wang 2018)."""

    def excess(eps):
        return norm.cdf(-eps / mu + mu / 2) - math.exp(eps) * norm.cdf(-eps / mu - mu / 2) - delta

    return brentq(excess, 0, 50)


@pytest.mark.parametrize(("multiplier", "steps"), [(4.0, 1), (4.0, 16), (2.0, 9)])
def test_all_rows_at_every_step_is_one_gaussian_mechanism(multiplier, steps):
    exact = gaussian(math.sqrt(steps) / multiplier)
    assert losses(multiplier, 1.0, steps, DELTA) == pytest.approx(exact, rel=1e-3)
    assert exact < divergences(multiplier, 1.0, steps, DELTA) < 1.15 * exact


@pytest.mark.parametrize(("multiplier", "claimed", "rdp"), [(6.03, 0.5, 1.21), (3.26, 1.0, 2.47), (1.85, 2.0, 5.08)])
def test_what_the_noise_of_huang_et_al_really_cost(multiplier, claimed, rdp):
    """Noise chosen for half the rate that was used (CIFAR-10: 300 steps, a tenth of the rows in each)."""
    assert divergences(multiplier, 0.05, 300, DELTA) == pytest.approx(claimed, rel=0.2)
    assert divergences(multiplier, 0.1, 300, DELTA) == pytest.approx(rdp, abs=0.011)
    assert 2 * claimed < losses(multiplier, 0.1, 300, DELTA) < rdp


def test_another_library_agrees():
    accountants = pytest.importorskip("opacus.accountants", reason="the extra jali[private] is not installed")
    multiplier = noise_for(2.0, DELTA, 0.1, 100)
    for accountant, ours, slack in (
        (accountants.PRVAccountant(), losses(multiplier, 0.1, 100, DELTA), 0.02),
        (accountants.RDPAccountant(), divergences(multiplier, 0.1, 100, DELTA), 0.01),
    ):
        accountant.history = [(multiplier, 0.1, 100)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert accountant.get_epsilon(DELTA) == pytest.approx(ours, rel=slack)


@pytest.mark.parametrize(("epsilon", "rate", "steps"), [(0.5, 0.1, 50), (1.0, 1.0, 10), (8.0, 0.2, 100)])
def test_the_noise_is_the_least_that_suffices(epsilon, rate, steps):
    multiplier = noise_for(epsilon, DELTA, rate, steps)
    assert losses(multiplier, rate, steps, DELTA) <= epsilon * 1.0005
    assert losses(multiplier * 0.995, rate, steps, DELTA) > epsilon


def test_a_budget_that_nothing_meets_is_said():
    with pytest.raises(JaliError, match="No noise makes"):
        noise_for(1e-9, 1e-12, 1.0, 10**6)
