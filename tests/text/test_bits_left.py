"""Bits that rules leave open: by hand, and against all cells of small tables."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.core.values import Column, Schema
from jali.text.bits_left import _cells, _values, bits_left
from jali.text.rules import AtLeast, Rule, Term

SCHEMA = Schema(
    (
        Column("a", "integer", low=0, high=4),
        Column("b", "category", categories=("x", "y", "z")),
        Column("c", "integer", low=1, high=3),
    )
)
CELLS = np.array(list(itertools.product(range(5), range(3), range(1, 4))), dtype=float)


@pytest.mark.parametrize(
    "premise",
    [
        (),
        (Term(0, low=1.0, high=3.0),),
        (Term(0, high=2.0), Term(1, codes=(0, 2)), Term(2, low=1.0)),
        (AtLeast(2, (Term(0, low=2.0), Term(1, codes=(1,)), Term(2, high=1.0))),),
        (AtLeast(1, (Term(0, low=2.0), Term(0, high=0.0), Term(1, codes=(1,)))), Term(2, low=2.0)),
        (AtLeast(1, (Term(0, low=2.0), Term(2, high=1.0))), AtLeast(2, (Term(0, high=3.0), Term(1, codes=(0, 1))))),
    ],
)
def test_cells_are_those_that_agree_with_the_premise(premise):
    values = [_values(column) for column in SCHEMA.columns]
    assert _cells(premise, values) == Rule(premise, 0).covers(CELLS).sum()


def test_no_rule_leaves_everything_and_a_rule_of_one_cell_nothing():
    assert bits_left([], CELLS[:7], SCHEMA).tolist() == [1] * 7
    one = Rule((Term(0, low=-1.0, high=0.0), Term(1, codes=(0,)), Term(2, high=1.0)), 0)
    assert bits_left([one], CELLS[:2], SCHEMA) == pytest.approx([0, math.log2(44) / math.log2(45)])


def test_rules_that_overlap_and_tables_without_rows_are_refused():
    some = Rule((Term(0, high=2.0),), 0)
    with pytest.raises(JaliError, match="do not overlap"):
        bits_left([some, some], CELLS, SCHEMA)
    with pytest.raises(JaliError, match="at least one row"):
        bits_left([some], CELLS[:0], SCHEMA)


def test_numbers_have_parts_and_no_bounds_are_ten_spreads_away():
    inside = _values(Column("x", low=0, high=1))
    assert (len(inside), inside[0], inside[-1]) == (100, 0.005, 0.995)
    far = _values(Column("x", low=-np.inf, high=np.inf, centre=5, spread=2))
    assert far[0] == pytest.approx(-15 + 0.2)
    assert len(_values(Column("n", "integer", low=0, high=100_000))) == 100
