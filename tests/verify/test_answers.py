from __future__ import annotations

from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pytest

from jali.verify.answers import called, joined, nothing


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
    ],
)
def test_any_difference_between_two_answers_counts(here, there):
    assert returning(here).differing(returning(there)) == 1
    assert returning(here).differing(returning(here)) == 0


def test_answers_are_joined_to_the_longer_length():
    both = joined(returning([1.0, 2.0]), nothing(1, "it failed"))
    assert both.numbers.tolist() == [[1.0, 2.0], [0.0, 0.0]]
    assert both.length.tolist() == [2, 0]
