"""Accountants of noisy sums over samples: closed forms, another library, and what a paper's noise really cost."""

from __future__ import annotations

import math
import warnings

import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from jali.core.errors import JaliError
from jali.defend._dp.dp_sgd_accounting import divergences, event, losses, noise_for
from jali.privacy import accounting

pytest.importorskip("dp_accounting", reason="the extra jali-audit[dp] is not installed")

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


PAPER = {  # rate and steps: claimed epsilon, multiplier, and what that costs by Rényi divergences of whole orders
    (0.1, 300): ((0.5, 6.03, 1.21), (1.0, 3.26, 2.47), (2.0, 1.85, 5.08), (8.0, 0.84, 19.4)),  # CIFAR-10
    (0.1, 90): ((0.5, 3.42, 1.24), (1.0, 1.94, 2.56), (2.0, 1.23, 5.24), (8.0, 0.68, 16.8)),  # CIFAR-100
    (0.05, 1000): ((0.5, 4.61, 1.47), (1.0, 2.52, 3.01), (2.0, 1.46, 6.27), (8.0, 0.73, 23.8)),  # SVHN
}
CELLS = [(*how, *cell) for how, cells in PAPER.items() for cell in cells]
WHOLE = (*range(2, 64), *range(64, 513, 8))


@pytest.mark.parametrize(("rate", "steps", "claimed", "multiplier", "rdp"), CELLS)
def test_what_the_noise_of_huang_et_al_really_cost(rate, steps, claimed, multiplier, rdp):
    """The noise is known to two or three digits, so what it costs is, too."""
    assert accounting.divergences(event(multiplier, rate, steps), DELTA, WHOLE) == pytest.approx(rdp, rel=0.006)
    found = divergences(multiplier, rate, steps, DELTA)
    assert 0.98 * rdp < found < 1.006 * rdp
    assert 1.8 * claimed < losses(multiplier, rate, steps, DELTA) < found
    if steps == 300:  # chosen for half the rate that was used
        assert divergences(multiplier, rate / 2, steps, DELTA) == pytest.approx(claimed, rel=0.2)


def test_another_library_agrees():
    accountants = pytest.importorskip("opacus.accountants", reason="the extra jali-audit[private] is not installed")
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
