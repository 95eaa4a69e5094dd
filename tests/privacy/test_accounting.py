"""Totals against closed forms, brute force and another library; the filter against the best adaptive adversary."""

from __future__ import annotations

import decimal
import functools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gammaln

from jali.core.errors import JaliError
from jali.core.guarantee import Adjacency, Guarantee, Noise
from jali.privacy.accounting import (
    FLOOR,
    ORDERS,
    Filter,
    basic,
    best_order,
    converted,
    exact,
    rdp,
    recomputed,
    renyi,
    spent,
)


def claim(epsilon: float, noise: Noise = "laplace", delta: float = 0.0, adjacency: Adjacency = "replace-one"):
    return Guarantee("noise", epsilon, adjacency, ("decisions",), "release", delta, noise)


# --- k Laplace answers at delta = 1e-5, the smaller of the plain sum and the Rényi total, k = 1, 10, ..., 10,000 ----

TABLE = {
    1.0: "1.00 9.99 70.8 485 4061",
    0.5: "0.50 4.99 30.0 172 1279",
    0.1: "0.10 0.99 4.53 18.6 93.6",
    0.01: "0.01 0.09 0.37 1.30 4.72",
}
CELLS = [(e, 10**i, text) for e, row in TABLE.items() for i, text in enumerate(row.split())]


@pytest.mark.parametrize(("epsilon", "k", "text"), CELLS)
def test_laplace_answers_cost_what_the_table_says(epsilon: float, k: int, text: str) -> None:
    found = spent([claim(epsilon)] * k, 1e-5, ("basic", "rdp"))
    digits = len(text.partition(".")[2])
    assert f"{found.epsilon:.{digits}f}" == text


def test_a_coarse_grid_of_orders_is_dearer_in_the_last_digit() -> None:
    """Over all orders the minima are 485.45 and 4061.44; a hundred orders find 486 and 4,062, which also hold."""
    fine = [rdp([claim(1.0)] * k, 1e-5, 1 + np.geomspace(0.01, 1, 20_001)) for k in (1000, 10_000)]
    np.testing.assert_allclose(fine, [485.4549, 4061.4415], atol=1e-3)
    coarse = [rdp([claim(1.0)] * k, 1e-5, 1 + np.geomspace(0.01, 1e4, 100)) for k in (1000, 10_000)]
    assert [round(x) for x in coarse] == [486, 4062]


# --- Rényi divergences -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("order", [1.2, 2.0, 7.0])
def test_divergence_of_laplace_noise_is_its_integral(epsilon: float, order: float) -> None:
    def integrand(x: float) -> float:
        return epsilon / 2 * math.exp(-epsilon * (order * abs(x) + (1 - order) * abs(x - 1)))

    area = sum(quad(integrand, a, b)[0] for a, b in ((-np.inf, 0), (0, 1), (1, np.inf)))
    assert renyi(claim(epsilon), np.array([order]))[0] == pytest.approx(math.log(area) / (order - 1), rel=1e-6)


def test_divergence_of_a_pure_claim_is_that_of_randomised_response_by_hand() -> None:
    p = np.array([3, 1]) / 4  # epsilon = ln 3
    by_hand = math.log(p[0] ** 2 / p[1] + p[1] ** 2 / p[0])
    assert renyi(claim(math.log(3), "pure"), np.array([2.0]))[0] == pytest.approx(by_hand)


@pytest.mark.parametrize("noise", ["laplace", "pure"])
@pytest.mark.parametrize("epsilon", [1e-12, 1e-7, 2e-6, 1e-3, 0.4, 3.0, 50.0, 800.0])
def test_divergences_keep_their_digits_from_tiny_to_huge(epsilon: float, noise: Noise) -> None:
    orders = ORDERS[::250]
    with decimal.localcontext(prec=80, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN):
        oracle = [_in_decimals(decimal.Decimal(float(a)), decimal.Decimal(epsilon), noise) for a in orders]
    np.testing.assert_allclose(renyi(claim(epsilon, noise), orders), oracle, rtol=1e-6 if epsilon < 1e-6 else 1e-9)


def _in_decimals(a: decimal.Decimal, eps: decimal.Decimal, noise: Noise) -> float:
    if noise == "laplace":
        area = a / (2 * a - 1) * ((a - 1) * eps).exp() + (a - 1) / (2 * a - 1) * (-a * eps).exp()
    else:
        area = ((a * eps).exp() + ((1 - a) * eps).exp()) / (1 + eps.exp())
    return float(area.ln() / (a - 1))


def test_laplace_noise_costs_no_more_than_any_pure_mechanism() -> None:
    for epsilon in (1e-7, 0.01, 1.0, 20.0):
        assert (renyi(claim(epsilon), ORDERS) <= renyi(claim(epsilon, "pure"), ORDERS) * (1 + 1e-12)).all()


# --- totals ----------------------------------------------------------------------------------------------------------


def closed_form(epsilon: float, k: int, delta: float) -> float:
    """Kairouz, Oh and Viswanath: k pure answers at the same price, from the binomial sum."""
    i = np.arange(k + 1)
    log_p = gammaln(k + 1) - gammaln(i + 1) - gammaln(k - i + 1) + (k - i) * epsilon - k * np.logaddexp(0, epsilon)
    loss = (k - 2 * i) * epsilon
    low, high = 0.0, k * epsilon
    for _ in range(100):
        middle = (low + high) / 2
        above = loss > middle
        if np.sum(np.exp(log_p[above]) * -np.expm1(middle - loss[above])) > delta:
            low = middle
        else:
            high = middle
    return high


@pytest.mark.parametrize(("epsilon", "k"), [(1.0, 1), (0.5, 10), (0.1, 100), (0.01, 1000), (0.003, 10_000)])
def test_exact_totals_of_pure_answers_are_the_closed_form(epsilon: float, k: int) -> None:
    pytest.importorskip("dp_accounting")
    assert exact([claim(epsilon, "pure")] * k, 1e-5) == pytest.approx(closed_form(epsilon, k, 1e-5), rel=1e-6)


def test_exact_totals_of_laplace_answers_are_those_of_the_accountant() -> None:
    dp = pytest.importorskip("dp_accounting")
    accountant = dp.pld.PLDAccountant(dp.NeighboringRelation.ADD_OR_REMOVE_ONE)
    accountant.compose(dp.LaplaceDpEvent(1 / 0.5), 20).compose(dp.LaplaceDpEvent(1 / 0.2), 10)
    answers = [claim(0.5)] * 20 + [claim(0.2)] * 10
    assert exact(answers, 1e-5) == pytest.approx(accountant.get_epsilon(1e-5), rel=1e-3)


@pytest.mark.parametrize(("noise", "relation"), [("laplace", "ADD_OR_REMOVE_ONE"), ("pure", "REPLACE_ONE")])
@pytest.mark.parametrize(("epsilon", "k"), [(1.0, 30), (0.1, 500), (0.01, 10_000)])
def test_renyi_totals_are_those_of_the_other_accountant(noise: Noise, relation: str, epsilon: float, k: int) -> None:
    dp = pytest.importorskip("dp_accounting")
    orders = 1 + np.geomspace(0.05, 500, 60)
    accountant = dp.rdp.RdpAccountant(orders.tolist(), dp.NeighboringRelation[relation])
    accountant.compose(claim(epsilon, noise).event(), k)
    assert rdp([claim(epsilon, noise)] * k, 1e-5, orders) == pytest.approx(accountant.get_epsilon(1e-5), rel=1e-9)


@pytest.mark.parametrize("noise", ["laplace", "pure"])
@pytest.mark.parametrize("k", [1, 7, 300])
def test_exact_is_best_and_says_so(noise: Noise, k: int) -> None:
    pytest.importorskip("dp_accounting")
    answers = [claim(0.2, noise)] * k
    assert exact(answers, 1e-6) <= min(rdp(answers, 1e-6), basic(answers)) + 1e-6
    assert spent(answers, 1e-6).by in ("exact", "rdp")
    assert spent(answers).by == "basic"
    assert spent(answers).epsilon == pytest.approx(0.2 * k)


def test_prices_may_differ_and_round_up() -> None:
    pytest.importorskip("dp_accounting")
    answers = [claim(0.3, "pure")] * 40 + [claim(0.1, "pure")] * 40 + [claim(0.2)] * 40
    each = exact(answers[:40], 1e-5), exact(answers, 1e-5)
    assert each[0] < each[1] < rdp(answers, 1e-5)
    assert exact([claim(0.3, "pure")] * 80 + [claim(0.29999, "pure")] * 80, 1e-5) == pytest.approx(
        closed_form(0.3, 160, 1e-5), rel=1e-3
    )


def test_claims_that_may_fail_take_their_failures_off_delta() -> None:
    pytest.importorskip("dp_accounting")
    answers = [claim(0.1, delta=1e-7)] * 50
    assert basic(answers, 5e-6) == pytest.approx(5.0)
    assert math.isinf(basic(answers, 4.9e-6))
    assert math.isinf(rdp(answers, 5e-6))
    assert rdp(answers, 1e-5) == pytest.approx(rdp([claim(0.1, "pure")] * 50, 5e-6))
    assert exact([claim(0.1, "pure")] * 50, 1e-5) < exact(answers, 1e-5) < exact([claim(0.1, "pure")] * 50, 4.9e-6)
    with pytest.raises(JaliError, match="use up delta = 1e-06: allow a larger one"):
        spent(answers, 1e-6)


def test_huge_totals_are_finite_and_no_answers_cost_nothing() -> None:
    pytest.importorskip("dp_accounting")
    for noise in ("laplace", "pure"):
        found = spent([claim(2000.0, noise)] * 10_000, 1e-5)
        assert 1.9e7 < found.epsilon <= 2e7
    assert (basic([]), rdp([], 1e-5), exact([], 1e-5), spent([]).epsilon) == (0, 0, 0, 0)


def test_totals_are_decimal() -> None:
    assert basic([claim(0.1)] * 3) == 0.3
    assert basic([claim(0.1)] * 10) == 1.0


def test_bad_input_says_what_to_do() -> None:
    with pytest.raises(JaliError, match=r"under add-remove and under replace-one adjacency do not add up.*2 epsilon"):
        basic([claim(1.0), claim(1.0, adjacency="add-remove")])
    with pytest.raises(JaliError, match="delta must be at least 0 and below 1, not 1"):
        rdp([claim(1.0)], 1.0)
    with pytest.raises(JaliError, match="epsilon must be positive"):
        claim(0.0)
    with pytest.raises(JaliError, match="needs its adjacency"):
        claim(1.0, adjacency=None)  # type: ignore[arg-type]
    with pytest.raises(JaliError, match="at least 1e-10"):
        exact([claim(1.0)], FLOOR / 10)


# --- a second accountant ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", ["laplace", "pure"])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 30.0])
def test_a_true_claim_is_found_again(epsilon: float, noise: Noise) -> None:
    pytest.importorskip("dp_accounting")
    found = recomputed(claim(epsilon, noise), claim(epsilon, noise).event())
    assert (found.pld, found.rdp) == (pytest.approx(epsilon, rel=1e-3), pytest.approx(epsilon, rel=1e-3))
    assert found.holds


def test_half_the_noise_is_found_out_and_twice_the_noise_is_fine() -> None:
    dp = pytest.importorskip("dp_accounting")
    half = recomputed(claim(1.0), dp.LaplaceDpEvent(0.5))
    assert half.pld == pytest.approx(2.0, rel=1e-3)
    assert not half.holds
    assert recomputed(claim(1.0), dp.LaplaceDpEvent(2.0)).holds
    assert recomputed(claim(4.4, delta=1e-5), dp.GaussianDpEvent(1.0)).holds
    assert not recomputed(claim(4.3, delta=1e-5), dp.GaussianDpEvent(1.0)).holds


@pytest.mark.parametrize(
    ("multiplier", "pld", "rdp"),
    [(3.26, 2.255957, 2.465254), (1.29, 7.960195, 8.723010)],  # by 200 orders up to 1e7, in 60 to 90 seconds
)
def test_sums_over_sampled_rows_take_no_longer_than_others(
    multiplier: float, pld: float, rdp: float, caplog, monkeypatch
) -> None:
    dp = pytest.importorskip("dp_accounting")
    event = dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(0.1, dp.GaussianDpEvent(multiplier)), 300)
    orders = []
    plain = dp.rdp.RdpAccountant
    monkeypatch.setattr(dp.rdp, "RdpAccountant", lambda some, *rest: plain(orders.extend(some) or some, *rest))
    found = recomputed(claim(pld, delta=1e-5), event)
    assert max(orders) <= 512  # an order costs a sum of as many terms: up to 1e7 it took a minute
    assert found.pld == pytest.approx(pld, rel=1e-3)
    assert rdp * 0.998 < found.rdp <= rdp
    assert found.holds
    nested = recomputed(claim(pld, delta=1e-5), dp.ComposedDpEvent([event]))
    assert nested.rdp == found.rdp
    assert not caplog.records


# --- the filter ------------------------------------------------------------------------------------------------------


def worst_delta(budget: Filter, menu: tuple[float, ...]) -> float:
    """The largest delta at the budget's epsilon of any adversary who picks the next price after each answer.

    Answers are randomised response, so the loss is a sum of plus or minus epsilon; the state is how often each price
    was paid and how often its answer was the likely one, and the best choice in every state is found by recursion.
    """
    claims = [claim(e, "pure") for e in menu]
    divergence = [budget.divergence(c) for c in claims]

    @functools.cache
    def value(paid: tuple[int, ...], likely: tuple[int, ...]) -> float:
        loss = sum((2 * up - k) * e for k, up, e in zip(paid, likely, menu, strict=True))
        best = max(0.0, -math.expm1(budget.epsilon - loss))
        for i, epsilon in enumerate(menu):
            more = tuple(k + (j == i) for j, k in enumerate(paid))
            total = sum(k * decimal.Decimal(repr(e)) for k, e in zip(more, menu, strict=True))
            if not budget.fits(decimal.Decimal(total), sum(k * d for k, d in zip(more, divergence, strict=True))):
                continue
            up = tuple(k + (j == i) for j, k in enumerate(likely))
            p = 1 / (1 + math.exp(-epsilon))
            best = max(best, p * value(more, up) + (1 - p) * value(more, likely))
        return best

    start = (0,) * len(menu)
    return value(start, start)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.05), (2.0, 0.01), (1.0, 0.2)])
def test_no_adaptive_choice_of_prices_beats_the_filter(epsilon: float, delta: float) -> None:
    budget = Filter(epsilon, delta, best_order(epsilon, delta))
    found = worst_delta(budget, (0.25, 0.6))
    assert 0 < found <= delta


def test_without_delta_the_filter_is_the_plain_sum() -> None:
    budget = Filter(1.0, 0.0, best_order(1.0, 0.0))
    assert budget.fits(decimal.Decimal("1.0"), 99.0)
    assert not budget.fits(decimal.Decimal("1.0000001"), 1e-9)
    assert worst_delta(budget, (0.25, 0.5)) == 0


@pytest.mark.parametrize(("epsilon", "price"), [(1.0, 0.03), (3.0, 0.03), (10.0, 0.3)])
def test_one_order_set_in_advance_grants_as_much_as_the_best(epsilon: float, price: float) -> None:
    budget, cost = Filter(epsilon, 1e-5, best_order(epsilon, 1e-5)), claim(price)
    fixed = np.floor(((epsilon - converted(np.zeros(len(ORDERS)), ORDERS, 1e-5)) / renyi(cost, ORDERS)).max())
    total = decimal.Decimal(10**9)  # beyond the plain sum
    assert budget.fits(total, int(fixed) * 0.98 * budget.divergence(cost))
    assert not budget.fits(total, (fixed + 1) * budget.divergence(cost))
