"""Cells of columns: round ends, k people in each, and no end that is one person's value."""

from __future__ import annotations

import numpy as np
import pytest

from jali.anonymity.grid import Grid, people_with
from jali.anonymity.groups import partition
from jali.core.errors import JaliError
from jali.core.explanation import Regions
from jali.core.values import Column, Dataset, Schema


def table(x, column, groups=None):
    X = np.asarray(x, dtype=float)[:, None]
    return Dataset(X, np.zeros(len(X), int), Schema((column,)), groups)


def test_cells_by_hand():
    """Ages 20 to 24 have two people, 25 to 29 one, 30 to 34 three: with k = 2 the middle joins what follows."""
    made = Grid.of(table([21, 23, 27, 31, 32, 33], Column("age", "integer", known="observed")), 2, {"age": 5})
    assert made.columns[0].low.tolist() == [20, 25]
    assert made.columns[0].high.tolist() == [24, 34]


def test_an_end_that_one_person_has_is_moved_outwards():
    """One person is 25, the first age of a cell, and one is 34, the last age of all."""
    made = Grid.of(table([21, 23, 25, 26, 31, 34], Column("age", "integer", known="observed")), 2, {"age": 5})
    assert made.columns[0].low.tolist() == [20, 30]
    assert made.columns[0].high.tolist() == [29, 39]


@pytest.mark.parametrize("kind", ["integer", "number"])
@pytest.mark.parametrize("k", [2, 5, 20])
def test_every_cell_has_k_people_and_no_lone_end(kind, k):
    rng = np.random.default_rng(k)
    for _ in range(20):
        x = np.round(rng.lognormal(3, 1.5, 200), 0 if kind == "integer" else 1)
        person = rng.integers(0, 150, 200)
        data = table(x, Column("x", kind, spread=float(x.std()), known="observed"), person)
        cells = Grid.of(data, k).columns[0]
        value, count = people_with(x, person)
        lone = set(value[count == 1])
        inside = [len(np.unique(person[(x >= a) & (x <= b)])) for a, b in zip(cells.low, cells.high, strict=True)]
        assert min(inside) >= k
        assert not lone & set(np.r_[cells.low, cells.high])
        assert cells.low[0] <= x.min()
        assert cells.high[-1] >= x.max()


def test_rare_categories_share_a_cell_of_k_people():
    column = Column("land", "category", categories=("a", "b", "c", "d", "e"))
    cells = Grid.of(table([0] * 5 + [1] * 4 + [2, 3], column), 3).columns[0]
    assert cells.cell.tolist() == [0, 1, 1, 1, 1]  # c, d and e have two people together, so b joins them
    grid = Grid.of(table([0] * 5 + [1] * 4 + [2, 2, 3], column), 3)
    assert grid.columns[0].cell.tolist() == [0, 1, 2, 2, 2]
    assert grid.whole(np.array([[0, 0, 1, 0, 0]], bool), 0).tolist() == [[False, False, True, True, True]]


def test_dates_are_cut_at_months():
    column = Column("since", "integer", known="observed")
    cells = Grid.of(table([20240110, 20240120, 20240212, 20240213, 20240305, 20240307], column), 2).columns[0]
    assert cells.low.tolist() == [20240101, 20240201, 20240301]
    assert cells.high.tolist() == [20240131, 20240229, 20240331]


def test_declared_bounds_end_the_outermost_cells():
    data = table([1, 2, 3, 98, 98, 99], Column("share", "number", 0, 99, spread=30))
    cells = Grid.of(data, 2).columns[0]
    assert (cells.low[0], cells.high[-1]) == (0, 99)


@pytest.mark.parametrize(("steps", "what"), [({"y": 5}, "'y' is not a column"), ({"x": -1}, "must be positive")])
def test_a_wrong_grid_is_refused(steps, what):
    with pytest.raises(JaliError, match=what):
        Grid.of(table([1, 2], Column("x")), 2, steps)


def test_regions_are_widened_to_cells_but_for_fixed_columns():
    schema = Schema((Column("a", "integer", known="observed"), Column("b", "integer", known="observed")))
    X = np.array([[21.0, 21], [23, 23], [27, 27], [31, 31], [32, 32], [33, 33]])
    grid = Grid.of(Dataset(X, np.zeros(6, int), schema), 2, {"a": 5, "b": 5})
    wide = grid.outwards(Regions(X[:1], X[1:2], np.zeros((1, 2, 0)), schema), np.array([1]))
    assert wide.low.tolist() == [[20, 21]]
    assert wide.high.tolist() == [[24, 23]]


def test_groups_have_k_people_and_are_disjoint():
    rng = np.random.default_rng(0)
    codes = np.stack([rng.integers(0, 9, 500), rng.integers(0, 4, 500)], axis=1)
    groups = partition(codes, np.array([9, 4]), np.array([True, False]), 7)
    assert min(map(len, groups)) >= 7
    assert len(groups) > 20
    assert sorted(np.concatenate(groups)) == list(range(500))
    assert partition(codes[:6], np.array([9, 4]), np.array([True, False]), 7) == []
