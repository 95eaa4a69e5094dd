"""What an audit could have found, computed by hand."""

from __future__ import annotations

import math

import pytest

from jali.report.resolution import FACTOR, addition_found, could_have_found, flat, unused
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


def test_models_in_which_the_explanation_was_left_out_do_not_make_the_audit_sharper() -> None:
    every = addition_found(contrast(0.0, -0.01, 0.01, units=16, unchanged=0))
    half = addition_found(contrast(0.0, -0.01, 0.01, units=16, unchanged=8))
    assert every == pytest.approx(0.014294, abs=1e-6)
    assert half == pytest.approx(2 * 0.014294, abs=2e-6)
    assert addition_found(contrast(0.0, -0.01, 0.01, units=16, unchanged=9)) is None
    assert addition_found(contrast(0.0, 0.0, 0.0, units=16, unchanged=16)) is None


def test_what_the_attack_itself_leaves_out_could_not_have_been_found() -> None:
    assert addition_found(contrast(0.0, -1e-5, 1e-5, ignored_below=0.002)) == 0.002


def test_more_than_the_baseline_leaves_cannot_be_added() -> None:
    wide = contrast(0.0, -0.3, 0.3)
    assert addition_found(wide, baseline(0.5)) == pytest.approx(0.428822, abs=1e-6)
    assert addition_found(wide, baseline(0.6)) == math.inf
    assert addition_found(contrast(0.0, -0.9, 0.9)) == math.inf


def test_no_number_without_an_interval() -> None:
    assert addition_found(Row(kind="contrast", metric="auc", value=0.01)) is None
    assert addition_found(Row(kind="contrast", metric="auc", value=None, reason="few")) is None


@pytest.mark.parametrize(
    ("row", "not_used", "no_width"),
    [
        (contrast(0.0, 0.0, 0.0), True, True),  # as older results have it
        (contrast(0.0, 0.0, 0.0, units=4, unchanged=4), True, True),
        (contrast(0.0, 0.0, 0.0, units=4, unchanged=1), False, True),  # the same number on other grounds
        (contrast(0.0, -0.1, 0.1, units=4, unchanged=1), False, False),
        (contrast(0.0, -0.1, 0.1), False, False),
        (Row(kind="attack", metric="tpr@0.01", value=0.0, low=0.0, high=0.0), False, False),
    ],
)
def test_not_used_is_told_from_no_difference(row: Row, not_used: bool, no_width: bool) -> None:
    assert (unused(row), flat(row)) == (not_used, no_width)


def test_few_models_promise_no_less_than_the_baseline_varies() -> None:
    narrow = Row(kind="contrast", metric="auc", value=0.0, low=-0.001, high=0.001, units=4)
    baseline = Row(kind="paired", metric="auc", value=0.7, low=0.66, high=0.74, units=4)
    assert addition_found(narrow, baseline) == pytest.approx(0.04)
    many = narrow.model_copy(update={"units": 16})
    assert addition_found(many, baseline) == pytest.approx(0.0014, abs=1e-4)
    assert addition_found(narrow.model_copy(update={"metric": "tpr@0.01"}), baseline) is None
