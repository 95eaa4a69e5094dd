from __future__ import annotations

import numpy as np
import pytest

from jali.core import Column, JaliError, Schema
from jali.explanation import Counterfactual, Regions
from jali.sentences import WITHHELD, sentences
from tests.defend.crowds import LISA, PEOPLE, TOY


def test_a_row_and_its_generalisation_side_by_side():
    """Fiona as she is, and as one of three."""
    fiona = PEOPLE[[5]]
    plain = Counterfactual(fiona, np.ones(1, dtype=bool))
    low, high = fiona.copy(), fiona.copy()
    high[0, 0] = 27
    regions = Regions(low, high, Regions.of(fiona, TOY).allowed, TOY)
    wide = Counterfactual(regions.nearest(LISA), np.ones(1, dtype=bool), regions)
    told = "city Antwerp (not Brussels) and salary 10 higher (60, not 50), the outcome would be accept."
    assert sentences(LISA, plain, TOY) == [f"If age were 3 higher (24, not 21), {told}"]
    assert sentences(LISA, wide, TOY) == [f"If age were 3 to 6 higher (24 to 27, not 21), {told}"]


def test_lower_numbers_lists_and_what_stays():
    schema = Schema(
        (Column("rate"), Column("job type", "category", categories=("a", "b", "c", "d")), Column("age")),
        classes=("no", "yes", "maybe"),
    )
    allowed = np.zeros((1, 3, 4), dtype=bool)
    allowed[0, 1, [0, 2, 3]] = True
    regions = Regions(np.array([[0.25, 0, 10]]), np.array([[0.5, 0, 40]]), allowed, schema)
    x = np.array([[1.0, 1, 30]])
    out = sentences(x, Counterfactual(regions.nearest(x), np.ones(1), regions), schema)
    assert out == [
        "If rate were 0.5 to 0.75 lower (0.25 to 0.5, not 1) and job type a, c or d (not b), "
        "the outcome would be another one."
    ]


def test_nothing_to_say():
    schema = Schema((Column("a"),), favourable=1)
    there = Counterfactual(np.array([[1.0], [2.0]]), np.array([False, True]))
    out = sentences(np.array([[1.0], [2.0]]), there, schema)
    assert out == [WITHHELD, "Nothing would have to change for the outcome to be 1."]
    with pytest.raises(JaliError, match="a record of 1 columns for each answer"):
        sentences(np.zeros((3, 1)), there, schema)
