"""What an audit could have found, computed by hand."""

from __future__ import annotations

import math

import pytest

from jali.report.resolution import FACTOR, addition_found, could_have_found, flat, needed, room, unused
from jali.results import Row


def contrast(value: float, low: float, high: float, **more: object) -> Row:
    return Row(kind="contrast", metric="auc", value=value, low=low, high=high, **more)  # type: ignore[arg-type]


def baseline(value: float) -> Row:
    return Row(kind="paired", metric="auc", value=value)


@pytest.mark.parametrize(
    ("value", "low", "high", "expected"),
    [
        (0.0, -0.0196, 0.0196, 0.028016),  # a standard error of 0.01: 1.959964 + 0.841621 of them, times 0.0196 / 1.96
        (0.0, -0.1, 0.1, 0.142941),  # 0.1 times 2.801585 / 1.959964
        (0.001, -0.009, 0.003, 0.014294),  # the longer half, 0.010, counts
        (0.009, -0.001, 0.019, 0.019),  # the interval still allows more than the 0.0143 that are found
        (-0.02, -0.045, 0.005, 0.035735),  # a negative value needs as much to be overcome
    ],
)
def test_what_could_have_been_found_by_hand(value: float, low: float, high: float, expected: float) -> None:
    assert could_have_found(value, low, high) == pytest.approx(expected, abs=2e-6)


def test_it_is_found_four_times_in_five() -> None:
    from scipy.special import ndtr

    error = 0.004
    half = 1.959964 * error
    found = could_have_found(0.0, -half, half)
    assert found is not None
    assert ndtr(found / error - 1.959964) == pytest.approx(0.8, abs=1e-6)
    assert pytest.approx(1.4294065) == FACTOR


@pytest.mark.parametrize("value", [0.0, 0.01, -0.3])
def test_an_interval_without_width_says_nothing(value: float) -> None:
    assert could_have_found(value, value, value) is None


@pytest.mark.parametrize(
    ("high", "detectable", "expected"),
    [
        (0.004, 0.011, 0.011),  # what the positive control says is found
        (0.015, 0.011, 0.015),  # the interval still allows more
        (-0.002, 0.011, 0.011),  # an attack that does worse finds no more for that
        (0.3, 0.05, 0.3),
    ],
)
def test_the_larger_of_interval_and_positive_control(high: float, detectable: float, expected: float) -> None:
    row = contrast(high - 0.01, high - 0.02, high, detectable=detectable)
    assert addition_found(row) == expected


def test_models_that_left_the_explanation_out_change_nothing_about_it() -> None:
    rows = [contrast(0.0, -0.01, 0.01, units=16, unchanged=k, detectable=0.012) for k in (0, 9, 16)]
    assert [addition_found(row) for row in rows] == [0.012] * 3


def test_more_than_the_baseline_leaves_cannot_be_added() -> None:
    wide = contrast(0.0, -0.3, 0.3, detectable=0.35)
    assert addition_found(wide, baseline(0.6)) == 0.35
    assert addition_found(wide, baseline(0.65)) == math.inf
    assert room(wide, baseline(0.65)) == pytest.approx(0.35)
    assert room(wide, None) == 1.0


def test_no_number_without_an_interval_or_a_positive_control() -> None:
    assert addition_found(contrast(0.0, -0.01, 0.01)) is None
    assert addition_found(Row(kind="contrast", metric="auc", value=0.01, detectable=0.01)) is None
    assert addition_found(Row(kind="contrast", metric="auc", value=None, reason="few")) is None


@pytest.mark.parametrize(
    ("now", "found", "expected"),
    [
        (768, 0.05, 4800),  # 6.25 times as many
        (300, 0.0412, 1300),  # 1273.08, rounded up to two digits
        (1, 0.0201, 2),  # 1.01 models are two
        (16, 0.06, 150),  # 144
        (19264, 0.02, 20000),
    ],
)
def test_what_it_takes_by_hand(now: int, found: float, expected: int) -> None:
    assert needed(now, found) == expected


@pytest.mark.parametrize(
    ("row", "not_used", "no_width"),
    [
        (contrast(0.0, 0.0, 0.0), True, True),  # as older results have it
        (contrast(0.0, 0.0, 0.0, units=4, unchanged=4), True, True),
        (contrast(0.0, 0.0, 0.0, units=4, unchanged=1), False, True),  # the same number on other grounds
        (contrast(0.0, -0.1, 0.1, units=4, unchanged=1), False, False),
        (contrast(0.0, -0.1, 0.1), False, False),
        (contrast(0.0, -0.1, 0.1, units=4, unchanged=4), False, False),  # the combination made to use it
        (Row(kind="attack", metric="tpr@0.01", value=0.0, low=0.0, high=0.0), False, False),
    ],
)
def test_not_used_is_told_from_no_difference(row: Row, not_used: bool, no_width: bool) -> None:
    assert (unused(row), flat(row)) == (not_used, no_width)
