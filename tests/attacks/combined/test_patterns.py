"""Leaks in digits, signs and exact repetitions, which hardly move any mean."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from jali.attacks._combined.patterns import COLUMNS, Digits, Exact, Repeats, digit, repeated, squared_shift
from jali.core.guesses import Shadows
from jali.stats.intervals import contrast
from tests.attacks.combined.simulated import SHIFT, combined, everyone, evidence

TARGETS = 4
ONE = Exact(np.array([0]), np.ones(1), np.ones(1, dtype=bool))


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


def one_of(columns):
    """Names, of so many columns; in the first, members get one of two names that belong to the record in 35 %, others
    the other one."""

    def change(rng, value, member):
        value[1:] = rng.integers(1, 31, value[1:].shape)
        own = rng.integers(14, 17, (len(member), 1))
        other = own + rng.choice([-1, 1], own.shape)
        value[1] = np.where(rng.random(member.shape) < 0.35, np.where(member, own, other), value[1])

    change.columns = columns
    return change


def usual_one_of(columns):
    """Names, of so many columns; in the first, members get the record's usual name in 50 %, others in 25 %."""

    def change(rng, value, member):
        value[1:] = rng.integers(1, 11, value[1:].shape)
        usual = rng.integers(1, 11, (len(member), 1))
        value[1] = np.where(rng.random(member.shape) < np.where(member, 0.5, 0.25), usual, value[1])

    change.columns = columns
    return change


def difference(change, seed=0):
    rng = np.random.default_rng(seed)
    value, member = world(rng, columns=getattr(change, "columns", 4))
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
    found = Repeats(ONE, value, use, member, np.ones((1, 6), dtype=bool))
    rate = (2 + 2) / 12  # hits: both fives; the two answers that came once, 1 and 2
    wanted = [np.log((2 + 2 * rate) / (0 + 2 * rate)), np.log((1 + 2 * rate) / (1 + 2 * rate))]
    assert found(0, np.array([[5.0, 9.0]]))[0] == pytest.approx(wanted)


def test_which_signals_repeat():
    rng = np.random.default_rng(3)
    value, member = world(rng, columns=5)
    value[2] = np.round(value[2])
    value[3] = (value[3] > 0) * 1.0  # yes or no
    value[4] = 7.0  # always the same
    value[5] = np.where(rng.random(member.shape) < 0.5, 0.0, value[5])  # only zeros come back
    found, share = repeated(Shadows(value, np.ones(value.shape, dtype=bool), member), [{} for _ in value])
    assert found.tolist() == [2]
    same = np.diff(np.sort(np.where(value[2] == 0, np.nan, value[2]), axis=1), axis=1) == 0
    assert share == pytest.approx([same.sum() / np.count_nonzero(value[2])])


def test_a_name_that_tells_members_is_found_among_others_that_tell_nothing():
    """.123, .140 and .119 with 1, 6 and 12 columns; .121, .080 and .015 where those that repeat least were summed."""
    for columns in (1, 6, 12):
        number = difference(one_of(columns))
        assert number.value > 0.1, columns
        assert number.low > 0


def test_the_usual_name_is_read():
    """.028 and .022 with 1 and 12 columns; .013 and .008 where in- and out-models were counted for each record only."""
    for columns in (1, 12):
        number = difference(usual_one_of(columns))
        assert number.value > 0.018, columns
        assert number.low > 0


def test_the_usual_answer_by_hand():
    """Of six models two gave 5 and two gave 3: either is as usual as any; 1 is half as usual, and nobody gave 9.

    A second column counts for half. A third comes back too rarely to be read so.
    """
    answers = np.array([5.0, 5.0, 1.0, 2.0, 3.0, 3.0])
    value = np.stack([np.tile(answers + more, (4, 1)) for more in (0, 10, 0)])
    member = np.repeat([[True, True, True, False, False, False]], 4, axis=0)
    use = np.ones(member.shape, dtype=bool)
    sets = np.array([[True] * 6, [False] + [True] * 5])
    weighed = Exact(np.array([0, 1, 0]), np.array([1.0, 0.5, 1.0]), np.array([True, True, False]))
    here = np.array([[5.0, 3.0, 1.0, 9.0], [99.0, 99.0, 99.0, 15.0]])
    found = Repeats(weighed, value, use, member, sets)
    assert found(0, here)[1].tolist() == [1.0, 1.0, 0.5, 0.5]
    # Without the first model a single one is left that gave 5, and the commonest answer is 3.
    assert found(1, here)[1].tolist() == [0.5, 1.0, 0.5, 0.25]
    turned = Repeats(weighed, value, use, ~member, sets)
    assert turned(0, here)[1].tolist() == found(0, here)[1].tolist()


def test_squared_shifts_by_hand():
    """Shares of 1, 2, 3 among members 2/3, 1/3, 0 and among others 0, 1/3, 2/3: squares 8/9, noise 2 (4/9) / 2."""
    value = np.array([[1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 8.0], [1.0, 1.0, 2.0, 4.0, 5.0, 6.0, 1.0]])
    member = np.repeat([[True, True, True, False, False, False, True]], 2, axis=0)
    use = np.repeat([[True] * 6 + [False]], 2, axis=0)
    square, noise = squared_shift(value, use, member)
    # In the second, answers that came once are 1/3 of members' and all of others'.
    assert square == pytest.approx([8 / 9 - 4 / 9, 8 / 9 - 2 / 9])
    assert noise == pytest.approx([4 / 9, 2 / 9])


def test_squared_shifts_have_no_bias():
    """Over all ways to draw two or three members of six models their mean is 0, whatever these answered."""
    for answers in ([1.0, 1.0, 2.0, 2.0, 3.0, 3.0], [4.0, 4.0, 4.0, 4.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]):
        for many in (2, 3):
            member = np.array([np.isin(np.arange(6), some) for some in combinations(range(6), many)])
            square, _ = squared_shift(np.tile(answers, (len(member), 1)), np.ones(member.shape, dtype=bool), member)
            assert square.mean() == pytest.approx(0, abs=1e-12)


def names(rng, columns, n=600, models=10):
    """Shadow models whose columns are names that tell nothing, some of them more usual for a record than others."""
    member = rng.random((n, models)) < 0.5
    value = rng.integers(1, 11, (columns, n, models)).astype(np.float64)
    usual = rng.integers(1, 11, (columns, n, 1))
    often = np.linspace(0.1, 0.8, columns).reshape(-1, 1, 1)
    value = np.where(rng.random(value.shape) < often, usual, value)
    return Shadows(value, np.ones(value.shape, dtype=bool), member)


def test_names_that_tell_nothing_have_one_weight_and_those_that_repeat_most_are_kept():
    """In 60 draws; one in a thousand may be taken to tell something."""
    kept = [Exact.of(names(np.random.default_rng([6, seed]), 12), [{} for _ in range(12)]) for seed in range(60)]
    plain = [exact.weight.tolist() == [1.0] * COLUMNS for exact in kept]
    assert sum(plain) >= 59
    assert all(exact.signal.min() >= 3 for exact, same in zip(kept, plain, strict=True) if same)


def test_a_name_that_tells_members_has_the_weight():
    """The one that repeats least of twelve; what the others are given is noise."""
    rng = np.random.default_rng(7)
    shadows = names(rng, 12)
    own = rng.integers(1, 11, (len(shadows.member), 1))
    shadows.value[0] = np.where((rng.random(shadows.member.shape) < 0.5) & shadows.member, own, shadows.value[0])
    found = Exact.of(shadows, [{} for _ in shadows.value])
    assert len(found.signal) <= COLUMNS
    assert found.signal[0] == 0
    assert found.weight[0] == 1
    assert found.weight[1:].max(initial=0) < 0.2
    assert found.weight.min() > 0


def test_numbers_that_come_back_by_accident_have_no_usual_answer():
    """Two decimals of a normal number: a few in a hundred come back among ten models."""
    rng = np.random.default_rng(8)
    value = np.round(rng.normal(size=(2, 600, 10)), 2)
    value[1] = np.round(value[1])
    shadows = Shadows(value, np.ones(value.shape, dtype=bool), rng.random((600, 10)) < 0.5)
    found = Exact.of(shadows, [{} for _ in value])
    assert found.signal.tolist() == [1, 0]
    assert found.usual.tolist() == [True, False]
