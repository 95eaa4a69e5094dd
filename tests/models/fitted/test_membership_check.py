from __future__ import annotations

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema
from jali.models.fitted.membership_check import checked

DATA = Dataset(np.zeros((4, 1)), [0, 1, 0, 1], Schema((Column("x"),)))
RNG = [np.random.default_rng(0)]


def test_good_members_come_back_read_only():
    member = checked(DATA, np.array([[1], [1], [0], [0]], dtype=bool), RNG)
    assert member.sum() == 2
    assert not member.flags.writeable


@pytest.mark.parametrize("rows", [[0, 0, 0, 0], [1, 0, 1, 0]], ids=["nobody", "one class"])
def test_too_few_classes(rows):
    with pytest.raises(JaliError, match="1 of 1 models lack members of two classes"):
        checked(DATA, np.array(rows, dtype=bool)[:, None], RNG)


def test_members_of_another_table():
    with pytest.raises(JaliError, match="member must have shape"):
        checked(DATA, np.ones((3, 1), dtype=bool), RNG)
