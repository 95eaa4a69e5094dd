"""The designed pairs differ in one record, and hold what they are named for."""

from __future__ import annotations

import numpy as np
import pytest

from jali.verify.designed import CROWDS, PERCENTILES, SMALL, designed
from jali.verify.neighbours import AT, INSTEAD


def keys(data):
    return [tuple(row) for row in np.column_stack([data.X, data.y])]


@pytest.mark.parametrize("seed", range(2))
def test_every_pair_differs_in_one_record(seed):
    for pair in designed(seed, add_remove=True):
        first, second = keys(pair.first.data), keys(pair.second.data)
        rest = list(second)
        gone = [key for key in first if not (key in rest and not rest.remove(key))]
        assert len(gone) == 1
        assert len(rest) == (0 if pair.removed else 1)
        assert first[pair.changed] == gone[0]
        assert np.abs(pair.first.data.X).max() <= 8
        assert np.abs(pair.second.data.X).max() <= 8


def test_a_removal_needs_a_claim_about_it():
    assert not any(pair.removed for pair in designed(0))
    assert sum(pair.removed for pair in designed(0, add_remove=True)) > 10


def test_the_median_and_the_majority_change_sides_in_a_near_tie():
    pair = next(p for p in designed(0) if p.name.startswith("a near tie, 20 against 19"))
    medians = [np.median(data.X[:, 0]) for data in (pair.first.data, pair.second.data)]
    majorities = [np.bincount(data.y).argmax() for data in (pair.first.data, pair.second.data)]
    assert medians[0] < -6
    assert medians[1] > 6
    assert majorities == [0, 1]


def test_small_classes_and_regions_of_every_size_lose_or_change_one():
    sizes = {int(p.first.data.y.sum()) for p in designed(0) if p.family == "small class, leaves"}
    assert sizes == set(SMALL)
    regions = {int((p.first.data.X[:, 2] == 5).sum()) for p in designed(0) if p.family == "small region"}
    assert regions == set(SMALL)


def test_queries_are_the_record_or_its_replacement():
    for pair in designed(0):
        at = pair.changed
        if pair.name.endswith(AT):
            assert (pair.query == pair.first.data.X[at]).all()
        if pair.name.endswith(INSTEAD):
            assert (pair.query == pair.second.data.X[at]).all()


def test_in_a_mixed_tie_some_counts_rise_and_others_fall():
    pair = next(p for p in designed(0) if p.family == "mixed")
    change = (pair.second.data.X > 0).sum(axis=0) - (pair.first.data.X > 0).sum(axis=0)
    assert set(change) == {-1, 1}


def test_values_that_only_one_data_set_holds_are_known():
    pair = next(p for p in designed(0) if p.family == "duplicates")
    here, there = pair.only()
    assert (len(here), there.tolist()) == (0, [6.5])


def test_crowds_of_every_size_lose_one_of_people_who_are_all_alike():
    crowds = [p for p in designed(0) if p.family == "crowd"]
    assert {int(p.first.data.y.sum()) for p in crowds} == set(CROWDS)
    for pair in crowds:
        alike = [np.count_nonzero((pair.query == data.X).all(axis=1)) for data in (pair.first.data, pair.second.data)]
        assert alike[0] - alike[1] == 1
        assert alike == [int(data.y.sum()) for data in (pair.first.data, pair.second.data)]


def test_percentiles_rise_with_one_record():
    rising = [p for p in designed(0) if p.family == "percentile"]
    for percent, pair in zip(PERCENTILES, rising, strict=True):
        low, high = (np.percentile(data.X[:, 0], percent) for data in (pair.first.data, pair.second.data))
        assert low < 0.1
        assert high > 7


def test_each_of_four_classes_gains_or_loses_the_record():
    moved = set()
    for pair in designed(0):
        if len(pair.first.data.schema.classes) == 4:
            moved |= {int(data.y[pair.changed]) for data in (pair.first.data, pair.second.data)}
    assert moved == {0, 1, 2, 3}


def test_the_record_decides_which_of_two_columns_is_first():
    pair = next(p for p in designed(0) if p.family == "tied columns")
    for measure in (
        lambda data: data.X.sum(axis=0),
        lambda data: np.abs(((data.X - data.X.mean(axis=0)) * (data.y - data.y.mean())[:, None]).sum(axis=0)),
        lambda data: (np.sign(data.X) == 2 * data.y[:, None] - 1).sum(axis=0),
    ):
        assert [int(measure(data).argmax()) for data in (pair.first.data, pair.second.data)] == [0, 1]


def test_a_combination_of_two_common_categories_has_one_person_or_none():
    pair = next(p for p in designed(0) if p.family == "rare combination")
    alike = [
        (data.X[:, [0, 2]] == pair.query[:, [0, 2]]).all(axis=1).sum() for data in (pair.first.data, pair.second.data)
    ]
    assert alike == [1, 0]
    for j in (0, 2):
        counts = np.bincount(pair.second.data.X[:, j].astype(int), minlength=6)
        assert counts.min() >= 10
