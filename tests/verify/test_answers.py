from __future__ import annotations

from decimal import Decimal

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


@pytest.mark.parametrize("value", ["1.5", b"x", {"a": 1}, ["a"], [[1], [2, 3]], object(), 10**400])
def test_what_is_not_made_of_numbers_is_a_kind_of_its_own(value):
    given = returning(value)
    assert given.kind[0].endswith("which is not made of numbers")
    assert not given.finite().any()


def test_answers_are_joined_to_the_longer_length():
    both = joined(returning([1.0, 2.0]), nothing(1, "it failed"))
    assert both.numbers.tolist() == [[1.0, 2.0], [0.0, 0.0]]
    assert both.length.tolist() == [2, 0]
