from __future__ import annotations

import numpy as np
import pytest

from jali.explain._surrogate.neighbourhood import GENERATORS, KEPT, OTHERS, _near, _nearest, _sparse, around
from jali.explain._surrogate.records import Records
from tests.explain.surrogate.test_genetic import Line, records

every = pytest.mark.parametrize("generator", GENERATORS)


def made(some: Records, generator, samples: int = 200, seed: int = 0):
    return around(some, generator, samples, 5, np.random.default_rng(seed))


@every
def test_both_classes_are_there_and_the_record_comes_first(generator):
    some = records()
    near = made(some, generator)
    assert near.rows.shape == (12, 200, 4)
    assert near.both.all()
    assert ((near.labels != some.own[1][:, None]).mean(axis=1) >= OTHERS).all()
    np.testing.assert_array_equal(near.rows[:, 0], some.X)
    np.testing.assert_array_equal(near.labels, some.ask(near.rows)[1])


@every
def test_rows_are_legal(generator):
    rows = made(records(), generator).rows
    assert set(np.unique(rows[..., 2])) <= {0.0, 1.0, 2.0}
    np.testing.assert_array_equal(rows[..., 1], np.rint(rows[..., 1]))
    assert np.abs(rows[..., [0, 3]]).max() <= 3
    assert np.abs(rows[..., 1]).max() <= 9


@every
def test_a_record_gets_the_same_rows_in_any_company(generator):
    whole = records()
    near = made(whole, generator)
    alone = made(Records(Line(), whole.X[[11, 3]], whole.marginals), generator)
    np.testing.assert_array_equal(alone.rows, near.rows[[11, 3]])
    np.testing.assert_array_equal(alone.labels, near.labels[[11, 3]])


@every
def test_one_class_everywhere_is_said_not_invented(generator):
    class Same:
        def logits(self, X):
            return np.tile([0.0, 1.0], (len(X), 1))

    some = Records(Same(), records().X, records().marginals)
    near = made(some, generator)
    assert not near.both.any()
    assert (near.labels == 1).all()


def test_who_meets_few_of_another_class_gets_them_from_the_whole_population():
    class Rare:
        def logits(self, X):
            score = 10.0 * (X[:, 0] > 2.8) - 5
            return np.stack([-score, score], axis=1)

    some = Records(Rare(), np.zeros((3, 4)), records().marginals)
    near = made(some, "random")
    np.testing.assert_array_equal((near.labels == 1).sum(axis=1), 20)
    np.testing.assert_array_equal(near.labels, some.ask(near.rows)[1])


def test_the_search_for_counterfactuals_ends_near_the_boundary():
    some = records(40)
    there, radius = _nearest(some, 200, np.random.default_rng(0))
    assert there.shape == (40, KEPT, 4)
    assert (some.ask(there)[1] != some.own[1][:, None]).all()
    assert (some.distance(there) >= some.distance(there)[:, :1]).all()  # the nearest first, again where there are few
    sparse = _sparse(some, there)
    np.testing.assert_array_equal(some.ask(sparse)[1], some.ask(there)[1])
    assert (some.distance(sparse) <= some.distance(there)).all()
    assert (sparse[:, :, 3] == some.X[:, None, 3]).all()  # the black box does not look at the last column
    margin = np.abs(np.diff(some.model.logits(some.X), axis=1)[:, 0]) / 2
    assert np.corrcoef(margin, radius)[0, 1] > 0.5
    assert (radius < 4).mean() > 0.9


def test_a_sparse_counterfactual_by_hand():
    """The class changes with b alone; a and c went along for nothing, and what is not changed stays."""
    some = Records(Line(), np.array([[0.0, 0.0, 0.0, 1.0]]), records().marginals)
    there = np.array([[[0.5, 9.0, 1.0, 2.0], [2.0, 0.0, 2.0, 1.0]]])
    np.testing.assert_array_equal(_sparse(some, there), [[[0.0, 9.0, 0.0, 1.0], [2.0, 0.0, 0.0, 1.0]]])


def test_counterfactual_neighbourhoods_have_as_many_rows_of_either_class_and_are_near_the_record():
    some = records(40)
    near = made(some, "counterfactual")
    assert 0.35 < (near.labels != some.own[1][:, None]).mean() < 0.65
    assert some.distance(near.rows).mean() < some.distance(made(some, "random").rows).mean() / 2


def test_rows_near_a_centre_change_few_columns_and_no_further_than_the_radius_says():
    some = records(6)
    rows = _near(some, some.X, np.full(6, 0.1), 2000, np.random.default_rng(0))
    moved = rows != some.X[:, None]
    assert 0.3 < moved[:, :, 3].mean() < 0.6  # two of four columns
    assert moved[:, :, 2].mean() < 0.05
    assert np.abs(rows - some.X[:, None])[..., 3].max() < 0.6
