"""The table of a reading: rows per signal, and sums of ratios that are not kept one by one."""

from __future__ import annotations

import numpy as np
import pytest

from jali.attacks._combined import reading
from jali.attacks._combined.candidates import Standard, Weighted
from jali.attacks._combined.ratios import common_ratio, own_ratio, steady_ratio
from jali.attacks._combined.reading import (
    COMMON,
    OWN,
    SUMS,
    WHITE_COMMON,
    WHITE_OWN,
    WHITE_STEADY,
    Reading,
    Tuning,
    choose_lens,
    without,
)
from jali.core.guesses import Shadows

TUNING = Tuning(11.0, 0.02)
SIGNALS = 7  # more than are computed together, and no multiple of that


@pytest.fixture
def seen(rng) -> Shadows:
    member = rng.random((200, 10)) < 0.5
    shared = rng.normal(size=(200, 10))
    value = np.stack([rng.normal(size=(200, 10)) + 0.3 * k * shared + 0.5 * member for k in range(SIGNALS)])
    return Shadows(value, np.ones(value.shape, dtype=bool), member)


def test_sums_are_those_of_the_single_ratios(seen):
    lens = choose_lens(seen, (np.arange(4),), TUNING)
    found = Reading.of(lens, seen, without(np.array([0]), 10))
    table = found.table(0, seen.value[:, :, 0], np.ones(200, dtype=bool))
    here = lens.features(seen.value[:, :, 0]) - found.sums.level[: len(lens.features.signal)]
    white = lens.weights @ here[lens.for_common]
    sides = found.sums.sides(0, slice(len(lens.features.signal), None))
    assert [np.count_nonzero(lens.blocks == block) for block in (WHITE_COMMON, WHITE_STEADY, SUMS)] == [1, 1, 9]
    np.testing.assert_allclose(table[lens.blocks == WHITE_COMMON][0], common_ratio(white, *sides)[0].sum(axis=0))
    np.testing.assert_allclose(table[lens.blocks == WHITE_STEADY][0], steady_ratio(white, *sides).sum(axis=0))
    np.testing.assert_allclose(table[lens.blocks == WHITE_OWN], own_ratio(white, *sides, TUNING.prior))
    for row, block in enumerate((OWN, COMMON, WHITE_OWN)):
        whole = table[lens.blocks == block].sum(axis=0)
        np.testing.assert_array_equal(table[lens.blocks == SUMS][row], whole)


def test_where_exact_values_come_back_a_row_says_whether_they_are_the_usual_ones(seen):
    """It is there only then, judged by the other models alone, and no other row moves."""
    plain = choose_lens(seen, (np.arange(4),), TUNING)
    seen.value[3] = np.round(seen.value[3])
    lens = choose_lens(seen, (np.arange(4),), TUNING)
    assert len(lens.blocks) == len(plain.blocks) + 1
    found = Reading.of(lens, seen, without(np.array([0]), 10))
    table = found.table(0, seen.value[:, :, 0], np.ones(200, dtype=bool))
    same = (seen.value[3, :, 1:, None] == seen.value[3, :, None, 1:]).sum(axis=2).max(axis=1)
    mine = (seen.value[3, :, 1:] == seen.value[3, :, :1]).sum(axis=1)
    sums = np.flatnonzero(lens.blocks == SUMS)
    np.testing.assert_allclose(table[sums[3]], mine / same)
    np.testing.assert_array_equal(table[sums[0]], table[lens.blocks == OWN].sum(axis=0))
    assert table[-5].any()  # ratios of exact repeats
    assert table[-1].any()


def test_how_many_features_are_tried_together_changes_nothing(seen, monkeypatch):
    few = choose_lens(seen, (np.arange(4),), TUNING)
    monkeypatch.setattr(reading, "TRIED", 1000)
    many = choose_lens(seen, (np.arange(4),), TUNING)
    assert few.for_own.tolist() == many.for_own.tolist()
    assert few.for_common.tolist() == many.for_common.tolist()
    np.testing.assert_allclose(few.weights, many.weights)


def test_rows_that_lie_together_are_summed_as_they_lie(rng):
    table = rng.normal(size=(6, 50))
    weight = np.array([0, 0, 1.0, 1.0, 1.0, 0])
    np.testing.assert_allclose(Weighted(weight)(table), table[2] + table[3] + table[4])
    apart = np.array([0, 1.0, 1.0, 1.0, 0, 2.0])
    np.testing.assert_allclose(Weighted(apart)(table), table[1:4].sum(axis=0) + 2 * table[5])
    assert not Weighted(np.zeros(6))(table).any()


def test_standard_deviations_by_hand():
    rows = np.array([[1.0, 3.0, 5.0, 7.0], [2.0, 2.0, 2.0, 2.0]])
    found = Standard.of(rows)
    assert found.mean.tolist() == [[4.0], [2.0]]
    assert found.deviation.tolist() == [[5**0.5], [1.0]]  # a row without any spread keeps its scale
    np.testing.assert_allclose(found.into(rows), [[-3 / 5**0.5, -1 / 5**0.5, 1 / 5**0.5, 3 / 5**0.5], [0] * 4])
