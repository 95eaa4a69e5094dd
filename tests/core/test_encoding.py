"""The one encoding of an experiment says what it cannot read."""

from __future__ import annotations

import numpy as np
import pytest

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Column, Schema

SCHEMA = Schema((Column("age", centre=40, spread=10), Column("sex", "category", categories=("f", "m"))))


@pytest.mark.parametrize("shape", [(5, 1), (5, 0), (5, 3), (2,), (0, 1)])
def test_rows_of_another_width_are_refused_in_one_sentence(shape):
    with pytest.raises(JaliError, match=r"must have the 2 columns of the schema, not shape \("):
        Encoding(SCHEMA).encode(np.zeros(shape))


def test_no_rows_are_fine():
    assert Encoding(SCHEMA).encode(np.zeros((0, 2))).shape == (0, 3)


def test_a_category_that_the_schema_does_not_name_is_refused():
    with pytest.raises(JaliError, match="'sex' holds a category"):
        Encoding(SCHEMA).encode(np.array([[50.0, 2.0]]))
