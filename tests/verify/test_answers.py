from __future__ import annotations

import datetime
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from jali.verify.answers import called, joined, nothing
from jali.verify.contents import numbers_in


def returning(*values):
    return called([lambda value=value: value for value in values])


@pytest.mark.parametrize(
    ("value", "numbers"),
    [
        (True, [1.0]),
        (np.float32(0.5), [0.5]),
        (Decimal("1.5"), [1.5]),
        ([[1, 2], [3, 4]], [1.0, 2.0, 3.0, 4.0]),
        (2 + 3j, [2.0, 3.0]),
    ],
)
def test_numbers_of_any_kind_are_laid_out_in_a_row(value, numbers):
    given = returning(value)
    assert given.numbers.tolist() == [numbers]
    assert given.kind[0].startswith("numbers of shape")


class Slots:
    __slots__ = ("empty", "mean")

    def __init__(self, mean):
        self.mean = mean


@pytest.mark.parametrize("value", ["yes", b"x", ["a"], object(), 10**400, {}, [None]])
def test_what_is_not_made_of_numbers_is_a_kind_of_its_own(value):
    given = returning(value)
    assert "which is not made of numbers: " in given.kind[0] or given.kind[0] == "numbers of shape (1,)"
    assert not given.finite().any()


@pytest.mark.parametrize(
    ("value", "numbers"),
    [
        ({"a": 1, "b": [2.5, None]}, [1.0, 2.5]),
        ([[1], [2, 3]], [1.0, 2.0, 3.0]),
        (("yes", 4.0), [4.0]),
        ("-1.50", [5.0, -1.5]),
        (["at 3"], [4.0, 3.0]),
        (SimpleNamespace(mean=1.5, rows=np.array([2, 3])), [1.5, 2.0, 3.0]),
        (Slots(2.5), [2.5]),
        (iter([1.0, "a"]), [1.0]),
        ({1.0, 2.0}, [1.0, 2.0]),
        ({3.5: "a"}, [3.5]),
        ({(1, "x"): None}, [1.0]),
        (np.ma.masked_array([4.0, 5.0], mask=[True, False]), [4.0, 5.0, 1.0, 0.0]),
        (np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]), [1.0, 2.0]),
        (pd.Series([7.0], index=["x"]), [7.0]),
        (pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}), [1.0, 2.0, 0.0, 1.0]),
    ],
)
def test_numbers_are_found_in_whatever_holds_them(value, numbers):
    given = returning(value)
    assert given.numbers.tolist() == [numbers]
    assert given.finite().all()


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("yes", "no"),
        ({"a": 1.0}, {"b": 1.0}),
        (["a", 1.0], ["b", 1.0]),
        (1, 1.0),
        (True, 1),
        (np.float32(0.5), 0.5),
        (0.0, -0.0),
        (1.0, np.nextafter(1.0, 2.0)),
        (10**400, 10**400 + 1),
        ([[1.0], [2.0, 3.0]], [[1.0, 2.0], [3.0]]),
        ("word " * 1000 + "a", "word " * 1000 + "b"),
        (b"\x80", b"\x81"),
        (datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)),
        (np.datetime64("2020-01-01"), np.datetime64("2020-01-02")),
        (np.ma.masked_array([1.0], mask=[True]), np.ma.masked_array([1.0], mask=[False])),
        (pd.DataFrame({"a": [1.0], "b": [1.0]}), pd.DataFrame({"b": [1.0], "a": [1.0]})),
        (pd.Series([1.0], index=[3]), pd.Series([1.0], index=[4])),
        ({"a": 1.0, "b": 1.0}, {"b": 1.0, "a": 1.0}),
        ({1: 1.0}, {2: 1.0}),
        (Slots(1.0), Slots(2.0)),
        ([[[[[[[[[[[1]]]]]]]]]], "x"], [[[[[[[[[[[2]]]]]]]]]], "x"]),
    ],
)
def test_any_difference_between_two_answers_counts(here, there):
    assert returning(here).differing(returning(there)) == 1
    assert returning(here).differing(returning(here)) == 0


@pytest.mark.parametrize("value", [0.5, np.float64(0.5), True, -7, 2**53 - 1, np.nan, -np.inf, 2**53, 2**60])
def test_single_numbers_are_read_as_any_other_value(value):
    numbers, kind = numbers_in(value)
    given = returning(value)
    np.testing.assert_array_equal(given.numbers[0], numbers)
    assert given.kind == (kind,)


def test_answers_are_joined_to_the_longer_length():
    both = joined(returning([1.0, 2.0]), nothing(1, "it failed"))
    assert both.numbers.tolist() == [[1.0, 2.0], [0.0, 0.0]]
    assert both.length.tolist() == [2, 0]


class Unreadable:
    def __array__(self, *args, **options):
        raise RuntimeError("on another device")

    def __repr__(self):
        raise RuntimeError("no words either")


def test_what_cannot_be_read_is_a_kind_of_answer_and_no_failure_of_ours():
    assert returning(Unreadable()).kind == ("it returned Unreadable, which cannot be read: RuntimeError",)
