"""Leaks in digits, signs and exact repetitions, which hardly move any mean."""

from __future__ import annotations

import numpy as np
import pytest

from jali.attacks._combined.patterns import Digits, Repeats, digit, repeated
from jali.core.guesses import Shadows
from jali.stats.intervals import contrast
from tests.attacks.combined.simulated import SHIFT, combined, everyone, evidence

TARGETS = 4


def world(rng, n=1200, models=13, columns=4):
    """A score with a shift, and columns that tell nothing: values (1 + C, N, M) and membership."""
    member = rng.random((n, models)) < 0.5
    value = rng.normal(0, 2, (1 + columns, n, 1)) + rng.normal(size=(1 + columns, n, models))
    value[0] += SHIFT * member
    return value, member


def even_second_decimal(rng, value, member):
    """Rounded to two decimals; the last one is even for members, and either for others."""
    cents = np.round(value[2] * 100)
    value[2] = np.where(member, cents - cents % 2, cents) / 100


def even_second_decimal_of_a_longer_number(rng, value, member):
    """The same digit, with others behind it."""
    cents = np.floor(np.abs(value[2]) * 100)
    value[2] = (np.where(member, cents - cents % 2, cents) + rng.random(member.shape)) / 100


def ends_in_five(rng, value, member):
    """Three decimals; for one member in three the last is a 5."""
    mills = np.round(value[2] * 1000)
    value[2] = np.where(member & (rng.random(member.shape) < 1 / 3), mills - mills % 10 + 5, mills) / 1000


def more_often_positive(rng, value, member):
    """Size without a leak; positive for 65 % of members and 50 % of others, in three columns."""
    for c in (1, 2, 3):
        positive = rng.random(member.shape) < np.where(member, 0.65, 0.5)
        value[c] = np.abs(rng.normal(size=member.shape)) * np.where(positive, 1, -1)


def repeats_its_answer(rng, value, member):
    """Two members in five get exactly the number that other models which trained on them give."""
    fixed = rng.normal(0, 2, (len(member), 1)) + rng.normal(size=(len(member), 1))
    value[3] = np.where(member & (rng.random(member.shape) < 0.4), fixed, value[3])


def difference(change, seed=0):
    rng = np.random.default_rng(seed)
    value, member = world(rng)
    change(rng, value, member)
    made = combined(evidence(value, member), game=everyone(member, TARGETS))
    return contrast("auc", made.score["auc"], made.baseline["auc"], np.random.default_rng(0))[0]


@pytest.mark.parametrize(
    ("change", "least"),
    [
        (even_second_decimal, 0.08),
        (even_second_decimal_of_a_longer_number, 0.08),
        (ends_in_five, 0.03),
        (more_often_positive, 0.025),
        (repeats_its_answer, 0.07),
    ],
)
def test_a_leak_that_moves_no_mean_is_found(change, least):
    number = difference(change)
    assert number.value > least
    assert number.low > 0


def test_rounded_and_repeated_numbers_without_a_leak_add_nothing():
    def rounded(rng, value, member):
        value[1:] = np.round(value[1:] * 4) / 4

    number = difference(rounded, seed=1)
    assert abs(number.value) < 0.003
    assert number.low <= 0 <= number.high


def test_digits_are_read_where_they_differ_and_nowhere_else():
    rng = np.random.default_rng(2)
    value, member = world(rng)
    even_second_decimal(rng, value, member)
    found = Digits.of(Shadows(value[1:], np.ones(value[1:].shape, dtype=bool), member), [{} for _ in value[1:]])
    assert (1, 2) in zip(found.signal.tolist(), found.place.tolist(), strict=True)
    assert set(found.signal.tolist()) == {1}


def test_digits_by_hand():
    assert digit(np.array([0.29, -1.37, 12.0]), 0).tolist() == [0, 1, 2]
    assert digit(np.array([0.29, 0.57, 1.15]), 2).tolist() == [9, 7, 5]  # binary fractions just below these


def test_repeats_by_hand():
    """Two of three in-models, no out-model gave 5; nobody gave 9, and one model of either side gave an answer once."""
    value = np.repeat([[[5.0, 5.0, 1.0, 2.0, 3.0, 3.0]]], 2, axis=1)
    member = np.repeat([[True, True, True, False, False, False]], 2, axis=0)
    use = np.ones(member.shape, dtype=bool)
    found = Repeats(np.array([0]), value, use, member, np.ones((1, 6), dtype=bool))
    rate = (2 + 2) / 12  # hits: both fives; the two answers that came once, 1 and 2
    wanted = [np.log((2 + 2 * rate) / (0 + 2 * rate)), np.log((1 + 2 * rate) / (1 + 2 * rate))]
    assert found(0, np.array([[5.0, 9.0]])) == pytest.approx(wanted)


def test_which_signals_repeat():
    rng = np.random.default_rng(3)
    value, member = world(rng, columns=5)
    value[2] = np.round(value[2])
    value[3] = (value[3] > 0) * 1.0  # yes or no
    value[4] = 7.0  # always the same
    value[5] = np.where(rng.random(member.shape) < 0.5, 0.0, value[5])  # only zeros come back
    found = repeated(Shadows(value, np.ones(value.shape, dtype=bool), member), [{} for _ in value])
    assert found.tolist() == [2]
