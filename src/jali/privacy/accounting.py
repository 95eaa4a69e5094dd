"""The total epsilon of several private answers: basic composition, Rényi divergences, and privacy loss distributions.

The price of an answer is its epsilon and delta. Totals hold for prices that are fixed before the first answer is seen;
the questions need not be. If later prices may depend on earlier answers, only a `Filter` with a budget set in advance
is proven.

`basic`, `rdp` and `Filter` are proven, up to rounding in the last digits. `exact` is as reliable as dp-accounting: its
grid rounds losses up, and its Fourier sums have an error near 1e-12, so that a delta below `FLOOR` is refused. All of
them trust the claims that they are given: if a claimed epsilon is false, so is the total.

Sources: Mironov 2017 (Rényi DP, Laplace noise); Kairouz, Oh and Viswanath 2015 (randomised response is the worst-case
pure mechanism); Canonne, Kamath and Steinke 2020 (from Rényi divergence to epsilon); Koskela et al. 2020 (exact sums);
Rogers et al. 2016 (filters), Feldman and Zrnic 2021 (a filter at one Rényi order).
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from jali.core.errors import JaliError
from jali.core.guarantee import Guarantee, Noise, accounting
from jali.core.values import Floats

if TYPE_CHECKING:
    from dp_accounting import DpEvent

Method = Literal["basic", "rdp", "exact"]

EXACT = Context(prec=2000)  # digits: more than the sum of the largest and the smallest float has
ORDERS: Floats = 1 + np.geomspace(1e-3, 1e7, 2001)
# Rényi orders for sums over sampled rows: whole orders give finite sums, other orders series that converge if small.
SAMPLED = (*(k / 8 for k in range(12, 97) if k % 8), *range(2, 64), *range(64, 513, 8))
FLOOR = 1e-10
_LARGE = 500  # largest epsilon for which privacy loss distributions are computed
_STEPS = 10  # most halvings of the grid of privacy losses
_POINTS = 2**18  # most points of the grid


class _Price(NamedTuple):
    """What an answer costs, and the kind of its noise."""

    epsilon: float
    delta: float
    noise: Noise


@dataclass(frozen=True)
class Spent:
    """The smallest proven epsilon of everything released, at this delta, and the method that gave it."""

    epsilon: float
    delta: float
    by: Method


@dataclass(frozen=True)
class Recomputed:
    """A claimed epsilon beside two of dp-accounting at this delta: by privacy losses (pld) and divergences (rdp)."""

    claimed: float
    delta: float
    pld: float
    rdp: float

    @property
    def holds(self) -> bool:
        """Whether the claimed epsilon is at least the smaller of the two, up to one part in a thousand."""
        return min(self.pld, self.rdp) <= self.claimed * 1.001


@dataclass(frozen=True)
class Filter:
    """Decide which answers fit a budget set in advance, even if prices depend on earlier answers.

    An answer is granted if afterwards sum(epsilon) <= epsilon, or sum(D_a) <= B at the one order a of the budget, where
    B = epsilon - ln(1 - 1/a) + (ln delta + ln a) / (a - 1). All granted answers together are (epsilon, delta)-DP.
    Proof: with L the privacy loss, delta is at most the mean of (1 - e^(epsilon - L))+. If the plain sum fits, L never
    exceeds epsilon and this is zero. Otherwise it is at most e^((a-1)(L - epsilon)) (1 - 1/a)^(a-1) / a, and
    e^((a-1)(L - sum D_a)) is a supermartingale of mean at most 1 whatever prices were chosen, which gives delta at
    sum D_a = B. Choosing another order later, to fit the answers so far, would break the last step.

    >>> answer = Guarantee("noise", 0.01, "replace-one", ("decisions",))
    >>> budget = Filter(1.0, 1e-5, best_order(1.0, 1e-5))
    >>> [budget.fits(Decimal(k) / 100, k * budget.divergence(answer)) for k in (100, 614, 615)]
    [True, True, False]
    """

    epsilon: float
    delta: float
    order: float

    def divergence(self, guarantee: Guarantee) -> float:
        """D_a of one answer at the order of the budget."""
        return float(renyi(guarantee, np.array([self.order]))[0])

    def as_epsilon(self, divergence: float) -> float:
        """The epsilon at delta that a sum of divergences gives; 0 for a sum of 0."""
        found = converted(np.array([divergence]), np.array([self.order]), self.delta)
        return max(0.0, float(found[0])) if divergence else 0.0

    def fits(self, total: Decimal, divergence: float) -> bool:
        """Whether these sums, of epsilons and of divergences, stay within the budget."""
        return total <= decimal(self.epsilon) or self.as_epsilon(divergence) <= self.epsilon


def best_order(epsilon: float, delta: float) -> float:
    """The order a at which most answers of small epsilon0 fit: D_a is near a epsilon0^2 / 2, so B / a is largest.

    >>> round(best_order(1.0, 1e-5), 1)
    17.8
    """
    room = epsilon - converted(np.zeros(len(ORDERS)), ORDERS, delta)
    return float(ORDERS[np.argmax(room / ORDERS)])


def basic(guarantees: Iterable[Guarantee], delta: float = 0.0) -> float:
    """Basic composition: the sum of the epsilons; infinite if the claims' own deltas sum to more than delta.

    Epsilons are added as decimals, so that three answers of 0.1 cost 0.3.

    >>> basic([Guarantee("noise", 0.1, "replace-one", ("decisions",))] * 3)
    0.3
    """
    prices = _priced(guarantees, delta)
    own = sum(k * decimal(p.delta) for p, k in prices.items())
    with localcontext(EXACT):
        total = sum(k * decimal(p.epsilon) for p, k in prices.items())
    return float(total) if own <= decimal(delta) else math.inf


def rdp(guarantees: Iterable[Guarantee], delta: float, orders: Floats = ORDERS) -> float:
    """Rényi composition: the sum of the divergences at each order, converted to epsilon at the best order.

    A claim with its own delta fails with that probability and is pure otherwise, so that its delta is subtracted from
    delta first. The result is infinite if nothing is left.

    >>> answers = [Guarantee("noise", 0.1, "replace-one", ("decisions",), noise="laplace")] * 1000
    >>> round(rdp(answers, 1e-5), 1)
    18.6
    """
    prices = _priced(guarantees, delta)
    if not prices:
        return 0.0
    left = decimal(delta) - sum(k * decimal(p.delta) for p, k in prices.items())
    total = np.sum([k * _divergence(p, orders) for p, k in prices.items()], axis=0)
    return max(0.0, float(converted(total, orders, float(left)).min()))


def exact(guarantees: Iterable[Guarantee], delta: float) -> float:
    """Epsilon by the distribution of the total privacy loss, on a grid that rounds losses up (dp-accounting).

    At delta = 0, and if an answer has epsilon above 500, it is the plain sum, which is tight for pure mechanisms. The
    time grows with the number of different prices and little with the number of answers. Prices are composed here,
    because the accountant of dp-accounting 0.6 counts randomised response only once, however often it was used.

    >>> round(exact([Guarantee("noise", 0.1, "replace-one", ("decisions",), noise="laplace")] * 1000, 1e-5), 1)
    17.4
    """
    guarantees = list(guarantees)
    prices = _priced(guarantees, delta)
    if delta == 0 or max((p.epsilon for p in prices), default=math.inf) > _LARGE:
        return basic(guarantees, delta)
    if delta < FLOOR:
        raise JaliError(f"Exact sums are good to about 1e-12: take delta of at least {FLOOR:g}, not {delta:g}, or rdp.")
    step = _step(prices)
    first, *rest = [_losses(p, step).self_compose(k) for p, k in prices.items()]
    for other in rest:
        first = first.compose(other)
    return float(first.get_epsilon_for_delta(delta))


def spent(
    guarantees: Iterable[Guarantee], delta: float = 0.0, methods: tuple[Method, ...] = ("basic", "rdp", "exact")
) -> Spent:
    """The smallest total of basic composition and the other methods named, each of which is valid by itself.

    >>> spent([Guarantee("noise", 0.5, "replace-one", ("decisions",))] * 2)
    Spent(epsilon=1.0, delta=0.0, by='basic')
    """
    guarantees = list(guarantees)
    totals: dict[Method, float] = {"basic": basic(guarantees, delta)}
    if "rdp" in methods and delta > 0:
        totals["rdp"] = rdp(guarantees, delta)
    if "exact" in methods and delta >= FLOOR:
        totals["exact"] = exact(guarantees, delta)
    by = min(totals, key=lambda method: totals[method])
    if math.isinf(totals[by]):
        raise JaliError(f"These claims' own deltas use up delta = {delta:g}: allow a larger one.")
    return Spent(totals[by], delta, by)


def recomputed(guarantee: Guarantee, event: DpEvent) -> Recomputed:
    """The epsilon of one use of a mechanism, by two accountants of dp-accounting, beside the claimed epsilon.

    event: what the mechanism does, such as `LaplaceDpEvent(scale / sensitivity)`. Derive it from the noise that is
    added, because an event derived from the claim would only confirm the claim. A pure claim is tested at delta = 1e-9,
    where it must hold as well, because privacy loss distributions on a grid cannot give delta = 0.
    """
    dp = accounting()
    delta = max(guarantee.delta, 1e-9)
    relation = _relation(dp, event)
    losses = dp.pld.PLDAccountant(relation, guarantee.epsilon / 2**12).compose(event)
    orders = SAMPLED if _sampled(dp, event) else ORDERS[::10].tolist()
    return Recomputed(
        guarantee.epsilon, delta, float(losses.get_epsilon(delta)), divergences(event, delta, orders, relation)
    )


def divergences(event: DpEvent, delta: float, orders: Iterable[float] = SAMPLED, relation: Any = None) -> float:
    """Epsilon at delta of an event by dp-accounting's Rényi divergences; relation: add-remove unless given.

    Every order gives a valid epsilon, so the least is valid too, even if orders whose series do not converge are left
    out.

    >>> round(divergences(accounting().GaussianDpEvent(4.0), 1e-5), 2)
    1.01
    """
    dp = accounting()
    with _quiet():
        accountant = dp.rdp.RdpAccountant(list(orders), relation or dp.NeighboringRelation.ADD_OR_REMOVE_ONE)
        return float(accountant.compose(event).get_epsilon(delta))


def renyi(guarantee: Guarantee, orders: Floats) -> Floats:
    """Rényi divergence D_a of one answer at orders a > 1; it is the same in both directions.

    Laplace noise: ln[ a/(2a-1) e^((a-1) eps) + (a-1)/(2a-1) e^(-a eps) ] / (a-1).
    Any other pure mechanism: that of randomised response, which is the largest possible,
    ln[ cosh((a-1/2) eps) / cosh(eps/2) ] / (a-1).

    >>> laplace = Guarantee("noise", 1.0, "replace-one", ("decisions",), noise="laplace")
    >>> renyi(laplace, np.array([2.0])).round(4), round(math.log(2 / 3 * math.e + 1 / 3 * math.e**-2), 4)
    (array([0.6191]), 0.6191)
    """
    return _divergence(_Price(guarantee.epsilon, guarantee.delta, guarantee.noise), orders)


def converted(divergence: Floats, orders: Floats, delta: float) -> Floats:
    """Epsilon at delta that a divergence at each order a implies: D + ln(1 - 1/a) - (ln delta + ln a) / (a - 1).

    >>> converted(np.array([0.5]), np.array([11.0]), 1e-5).round(4)
    array([1.3162])
    """
    if delta <= 0:
        return np.full(np.shape(orders), np.inf)
    found: Floats = divergence + np.log1p(-1 / orders) - (math.log(delta) + np.log(orders)) / (orders - 1)
    return found


def added(first: Decimal, second: Decimal) -> Decimal:
    """The exact sum of two decimals, however many digits it has.

    >>> added(Decimal("1e30"), Decimal("1e-30")) > Decimal("1e30")
    True
    """
    return EXACT.add(first, second)


def decimal(value: float) -> Decimal:
    """The decimal number that a float is printed as; sums of decimals are exact."""
    return Decimal(repr(float(value)))


def _priced(guarantees: Iterable[Guarantee], delta: float) -> Counter[_Price]:
    """How often each price is paid; a claim with a delta counts as pure, whatever its noise."""
    if not 0 <= delta < 1:
        raise JaliError(f"delta must be at least 0 and below 1, not {delta}.")
    uses = Counter(guarantees)
    if void := [g for g in uses if g.void]:
        raise JaliError(f"{void[0].mechanism} cannot be counted, because its claim is void: {void[0].void}.")
    kinds = sorted({g.adjacency for g in uses})
    if len(kinds) > 1:
        raise JaliError(
            f"Claims under {' and under '.join(kinds)} adjacency do not add up: state all of them under one of the two "
            "(epsilon and delta under add-remove are 2 epsilon and (1 + e^epsilon) delta under replace-one)."
        )
    prices: Counter[_Price] = Counter()
    for g, k in uses.items():
        prices[_Price(g.epsilon, g.delta, "pure" if g.delta else g.noise)] += k
    return prices


def _divergence(price: _Price, orders: Floats) -> Floats:
    """D_a, computed by log1p where a epsilon is small, and by sums of logarithms where powers would overflow."""
    a = orders
    eps = price.epsilon
    small = a * eps < 1
    b = np.where(small, a, 1.5)
    # Below 1e-6 both formulas agree to six digits, which the difference of exponentials for Laplace noise would lose.
    if price.noise == "laplace" and eps > 1e-6:
        excess = (b * np.expm1((b - 1) * eps * small) + (b - 1) * np.expm1(-b * eps * small)) / (2 * b - 1)
        logs = np.log(a / (2 * a - 1)) + (a - 1) * eps + np.log1p((a - 1) / a * np.exp(-(2 * a - 1) * eps))
    else:
        excess = 2 * np.sinh(b * eps * small / 2) * np.sinh((b - 1) * eps * small / 2) / math.cosh(min(eps, 1.0) / 2)
        logs = (a - 1) * eps + np.log1p(np.exp(-(2 * a - 1) * eps)) - np.log1p(math.exp(-eps))
    found: Floats = np.minimum(np.where(small, np.log1p(excess), logs) / (a - 1), eps)
    return found


def _step(prices: Counter[_Price]) -> float:
    """The width of the grid: the largest epsilon, halved up to ten times while the total loss fits on the grid.

    The total loss is within about eight standard deviations, each at most sqrt(sum of epsilon^2), on either side.
    """
    largest = max(p.epsilon for p in prices)
    width = 16 * math.sqrt(sum(k * (p.epsilon / largest) ** 2 for p, k in prices.items()))
    return float(largest * 2.0 ** -min(_STEPS, max(0, math.floor(math.log2(_POINTS / width)))))


def _losses(price: _Price, step: float) -> Any:
    """The privacy loss distribution of one answer: of Laplace noise, or with losses of plus and minus epsilon.

    Epsilon itself is rounded up to the grid, which keeps the two losses opposite. Rounding up each loss would add half
    a step to every answer.
    """
    pld = accounting().pld
    if price.noise == "laplace":
        return pld.privacy_loss_distribution.from_laplace_mechanism(
            1 / price.epsilon, value_discretization_interval=step
        )
    rounded = math.ceil(price.epsilon / step) * step
    claim = pld.common.DifferentialPrivacyParameters(rounded, price.delta)
    return pld.privacy_loss_distribution.from_privacy_parameters(claim, step)


def _relation(dp: Any, event: DpEvent) -> Any:
    """The relation under which dp-accounting takes an event as one pair of neighbours at full sensitivity.

    A claim's epsilon already refers to its own adjacency, so only this pair matters. dp-accounting has it for
    randomised response under REPLACE_ONE, and for added noise under ADD_OR_REMOVE_ONE.
    """
    relations = dp.NeighboringRelation
    swapped = isinstance(event, dp.RandomizedResponseDpEvent)
    return relations.REPLACE_ONE if swapped else relations.ADD_OR_REMOVE_ONE


def _sampled(dp: Any, event: Any) -> bool:
    """Whether an event, or one inside it, samples rows at random."""
    inner = getattr(event, "events", None) or filter(None, [getattr(event, "event", None)])
    return isinstance(event, dp.PoissonSampledDpEvent) or any(_sampled(dp, one) for one in inner)


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress the warnings about orders whose series do not converge."""
    log = logging.getLogger("absl")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)
