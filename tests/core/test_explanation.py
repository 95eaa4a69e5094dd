"""Explanations: regions of rows, counterfactuals with what is never shown, surrogates."""

from __future__ import annotations

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Regions, Surrogate
from jali.core.values import Column, Schema

SCHEMA = Schema(
    (
        Column("age", "integer", 0, 100),
        Column("sex", "category", categories=("f", "m")),
        Column("city", "category", categories=("Antwerp", "Ghent", "Mons")),
    )
)


def regions():
    """24 to 27, either sex, Antwerp or Mons; exactly 40, m, Ghent."""
    allowed = np.zeros((2, 3, 3), dtype=bool)
    allowed[0, 1, :2] = allowed[0, 2, [0, 2]] = True
    allowed[1, 1, 1] = allowed[1, 2, 1] = True
    return Regions(np.array([[24.0, 0, 0], [40, 0, 0]]), np.array([[27.0, 0, 0], [40, 0, 0]]), allowed, SCHEMA)


def test_regions_cover_what_every_column_allows():
    X = np.array([[24.0, 0, 0], [27, 1, 2], [28, 1, 2], [25, 0, 1], [40, 1, 1]])
    slow = [[24 <= a <= 27 and c in (0, 2), a == 40 and s == 1 and c == 1] for a, s, c in X]
    assert regions().covers(X).tolist() == np.array(slow).T.tolist()


def test_the_nearest_row_lies_inside_and_keeps_what_it_can():
    X = np.array([[30.0, 1, 1], [10, 0, 0]])
    near = regions().nearest(X)
    assert near.tolist() == [[27, 1, 0], [40, 1, 1]]
    assert regions().covers(near).diagonal().all()


def test_a_row_is_a_region_of_its_own():
    X = np.array([[24.0, 0, 0], [27, 1, 2]])
    assert Regions.of(X, SCHEMA).covers(X).tolist() == np.eye(2, dtype=bool).tolist()
    assert Counterfactual(X, [True, True]).shown(SCHEMA).covers(X).tolist() == np.eye(2, dtype=bool).tolist()
    assert len(regions().pick(np.array([True, False]))) == 1


def test_where_an_answer_comes_from_is_never_shown():
    counterfactuals = Counterfactual(
        np.zeros((2, 3)), [True, True], regions(), np.array([5, -1]), np.array([True, False])
    )
    assert counterfactuals.public().origin is None
    assert counterfactuals.public().clamped is None
    assert counterfactuals.public().regions is counterfactuals.regions
    assert "origin" not in repr(counterfactuals)
    kept = counterfactuals.pick(np.array([False, True]))
    assert kept.origin.tolist() == [-1]
    assert kept.clamped.tolist() == [False]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Counterfactual(np.zeros((3, 3)), [True] * 3, regions()), "3 counterfactuals need as many regions"),
        (lambda: Surrogate((), np.array([0]), np.array([True])), "must name models of the surrogate"),
        (lambda: Schema((Column("a"),), image=(1, 2, 2)), "has 4 columns, and the table has 1"),
    ],
)
def test_what_does_not_fit_is_said(make, says):
    with pytest.raises(JaliError, match=says):
        make()
