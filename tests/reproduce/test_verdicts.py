from __future__ import annotations

import pytest

from jali.core.guesses import Estimate
from jali.reproduce.verdicts import of_order, of_sameness, of_value


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.58, 0.60, "matches"),
        (0.57, 0.61, "matches"),  # the ends of the tolerance belong to it
        (0.56, 0.60, "not resolvable"),
        (0.50, 0.70, "not resolvable"),
        (0.62, 0.65, "deviates"),
        (0.50, 0.56, "deviates"),
    ],
)
def test_a_value_is_judged_by_its_whole_interval(low, high, verdict):
    assert of_value(0.59, 0.02, Estimate((low + high) / 2, low, high, 5)) == verdict


def test_an_order_needs_the_whole_interval_on_its_side():
    assert of_order(Estimate(0.1, 0.01, 0.2, 5)) == "matches"
    assert of_order(Estimate(-0.1, -0.2, -0.01, 5)) == "deviates"
    assert of_order(Estimate(0.1, -0.01, 0.2, 5)) == "not resolvable"
    assert of_order(Estimate(0.1, 0.0, 0.2, 5)) == "not resolvable"


def test_sameness_needs_a_narrow_interval():
    assert of_sameness(Estimate(0.0, -0.01, 0.01, 5), 0.02) == "matches"
    assert of_sameness(Estimate(0.0, -0.05, 0.05, 5), 0.02) == "not resolvable"
    assert of_sameness(Estimate(0.1, 0.05, 0.15, 5), 0.02) == "deviates"


@pytest.mark.parametrize("ours", [Estimate(None, reason="why"), Estimate(0.59, units=1)])
def test_without_an_interval_nothing_is_resolvable(ours):
    assert of_value(0.59, 0.02, ours) == of_order(ours) == of_sameness(ours, 0.1) == "not resolvable"
