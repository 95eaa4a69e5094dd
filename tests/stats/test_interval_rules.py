"""The rules for intervals over targets that docs/decisions.md compares, computed without simulation.

Values of T targets are normal, people cause a variance of 1 in each, and models add an excess e to it. The variance of
the mean, times T, is then 1 + e + shared, and its estimate x is (1 + e) chi-squared / (T - 1), independent of the mean.
So an interval of half-width h(x) covers with probability 2 Phi(h(x) / sd) - 1, averaged over x.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.special import chdtri, ndtr, ndtri, stdtrit

from jali.core.values import Floats
from jali.stats.influence import Spread
from jali.stats.intervals import WIDTHS, _explained, _half_width, foreseen, over_units

TARGETS = (2, 3, 5, 8, 16)
EXCESSES = (0.0, *np.geomspace(0.05, 1000, 40))
PLACES = (np.arange(4000) + 0.5) / 4000
CHANCES = (np.arange(WIDTHS) + 0.5) / WIDTHS
DECISIONS = (Path(__file__).parents[2] / "docs" / "decisions.md").read_text(encoding="utf-8")
Rule = Callable[[Floats, float, int], Floats]  # h from x, what people cause, T


def t(targets: int) -> float:
    return float(stdtrit(targets - 1, 0.975))


Z = float(ndtri(0.975))


def larger(x: Floats, people: float, targets: int) -> Floats:
    return t(targets) * np.sqrt(np.maximum(people, x))


def satterthwaite(x: Floats, people: float, targets: int) -> Floats:
    variance = people + np.maximum(x - 1, 0)
    return np.asarray(stdtrit((targets - 1) * variance**2 / x**2, 0.975) * np.sqrt(variance))


def graybill_wang(x: Floats, people: float, targets: int) -> Floats:
    return np.sqrt(Z**2 * people + t(targets) ** 2 * np.maximum(x - 1, 0))


def nothing_off(x: Floats, people: float, targets: int) -> Floats:
    return np.sqrt(Z**2 * people + t(targets) ** 2 * x)


def ours(x: Floats, people: float, targets: int) -> Floats:
    explained = min(1, _explained(targets, 0.95, rate=False) * people)
    return np.sqrt(Z**2 * people + t(targets) ** 2 * np.maximum(x - explained, 0))


def performance(rule: Rule, targets: int, shared: float = 0.0) -> tuple[float, float]:
    """Smallest coverage over all excesses, and mean half-width by sd without any."""
    people = 1 + shared
    estimated = chdtri(targets - 1, 1 - PLACES) / (targets - 1)
    covers = [
        float(np.mean(2 * ndtr(rule((1 + e) * estimated, people, targets) / np.sqrt(e + people)) - 1)) for e in EXCESSES
    ]
    return min(covers), float(np.mean(rule(estimated, people, targets)) / np.sqrt(people))


RULES = {
    "t with T − 1": (larger, 0.0),
    "Satterthwaite": (satterthwaite, 0.0),
    "the same with twice": (satterthwaite, 2.0),
    "z² K + t² max(0, sd²/T − K)": (graybill_wang, 0.0),
    "z² K + t² sd²/T, nothing": (nothing_off, 0.0),
    "**z² K + t² max(0, sd²/T − γ K)": (ours, 0.0),
}


@pytest.mark.parametrize("name", RULES)
def test_the_table_of_rules_is_what_they_do(name):
    rule, shared = RULES[name]
    [line] = [line for line in DECISIONS.splitlines() if line.startswith(f"| {name}")]
    told = [cell.strip() for cell in line.strip("|").split("|")[1:]]
    found = [performance(rule, targets, shared) for targets in TARGETS]
    for text, (covers, width) in zip(told, found, strict=True):
        percent, half = text.split(" %, ")
        assert float(percent) == pytest.approx(100 * covers, abs=0.07)
        assert float(half) == pytest.approx(width, abs=0.055)


@pytest.mark.parametrize("targets", TARGETS)
@pytest.mark.parametrize("people", [1.0, 3.0])
def test_our_rule_is_that_of_the_code(targets, people):
    shared = (people - 1) / targets
    known = Spread(within=1 / targets + shared / targets, shared=shared)
    share = _explained(targets, 0.95, rate=False)
    for x in (0.1, 0.9, 4.0):
        half = _half_width(x / targets, targets, known, 0.95, share)
        assert half * np.sqrt(targets) == pytest.approx(float(ours(np.array(x), people, targets)))


def test_people_whom_targets_share_make_intervals_narrower():
    found = [performance(ours, targets, 1.0)[1] for targets in (2, 3, 5)]
    assert " / ".join(f"{width:.1f}" for width in found) + " at 2 / 3 / 5" in DECISIONS.replace("\n", " ")


def test_two_targets_that_agree_by_accident():
    """An excess of 4 is estimated as none where 5 chi-squared(1) < 1."""
    assert f"{100 * (2 * ndtr(np.sqrt(1 / 5)) - 1):.0f} % of all audits" in DECISIONS.replace("\n", " ")


def test_what_is_foreseen_of_one_target_and_of_several_by_hand():
    """Three targets with variance 4 each of which people explain 2; sixteen would have a deviation of sqrt(4 / 16)."""
    values = np.array([-2.0, 0.0, 2.0])
    known = Spread(within=2 / 3)
    [alone] = foreseen([(values, known)], 1)
    assert (alone.deviation, *alone.half) == pytest.approx((np.sqrt(2), *[1.96 * np.sqrt(2)] * WIDTHS), abs=1e-3)
    [several] = foreseen([(values, known)], 16)
    assert several.deviation == pytest.approx(0.5)
    # The observed variance of sixteen targets is a chi-squared with fifteen degrees of freedom.
    observed = 4 / 16 * chdtri(15, 1 - CHANCES) / 15
    share = _explained(16, 0.95, rate=False)
    wanted = [_half_width(each, 16, Spread(within=2 / 16), 0.95, share) for each in observed]
    assert several.half == pytest.approx(wanted)


def test_the_width_of_few_targets_is_foreseen_as_it_is_drawn():
    """Four targets with variance 4 each of which people explain 2, foreseen from three of them."""
    values = np.random.default_rng(5).normal(0, 2, (20_000, 4))
    found = [over_units(each, 0.95, (-99.0, 99.0), Spread(within=2 / 4)) for each in values]
    halves = np.array([e.high - e.low for e in found if e.high is not None and e.low is not None]) / 2
    [wide] = foreseen([(np.array([-2.0, 0.0, 2.0]), Spread(within=2 / 3))], 4)
    assert np.quantile(halves, CHANCES) == pytest.approx(wide.half, rel=0.03)


def test_by_how_much_targets_differ_is_common_to_all_that_is_foreseen():
    """Variances of 4 and 0 where people explain 2 and 4: twice and not at all, so once, which people explain alone."""
    pairs = [(np.array([-2.0, 0.0, 2.0]), Spread(within=2 / 3)), (np.zeros(3), Spread(within=4 / 3))]
    deviations = [one.deviation for one in foreseen(pairs, 4)]
    assert deviations == pytest.approx([np.sqrt(2 / 4), np.sqrt(4 / 4)])
