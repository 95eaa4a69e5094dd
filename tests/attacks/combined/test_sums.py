"""Sums over sets of shadow models equal those of the models themselves, and models outside leave no trace."""

from __future__ import annotations

import numpy as np
import pytest

from jali.attacks._combined import sums
from jali.attacks._combined.features import centred
from jali.attacks._combined.reading import without
from jali.attacks._combined.sums import Side, Sums, levels


@pytest.fixture
def cells(rng):
    value = 1e6 + rng.normal(size=(3, 50, 7))
    use = rng.random((50, 7)) < 0.8
    return value, use, rng.random((50, 7)) < 0.5


def summed(value, use, member, sets) -> Sums:
    return Sums.of(lambda rows: centred(value[:, rows], use[rows]), len(value), use, member, sets)


def test_each_set_has_the_moments_of_its_models(cells):
    value, use, member = cells
    sets = without(np.array([0, 3, 6]), 7)
    found = summed(value, use, member, sets)
    for t, chosen in enumerate(sets):
        for inside, side in enumerate(found.sides(t)):
            mine = use & (member == bool(inside)) & chosen
            assert (side.count == mine.sum(axis=1)).all()
            for i in np.flatnonzero(mine.sum(axis=1) >= 2):
                some = value[:, i, mine[i]] - found.level[:, i, None]
                assert side.mean[:, i] == pytest.approx(some.mean(axis=1), abs=1e-9)
                assert side.variance[:, i] == pytest.approx(some.var(axis=1, ddof=1), abs=1e-8)


def test_a_model_outside_a_set_leaves_no_bit_of_its_membership(cells):
    value, use, member = cells
    flipped = member.copy()
    flipped[:, 3] = ~member[:, 3]
    sets = without(np.array([3, 5]), 7)
    was, now = summed(value, use, member, sets), summed(value, use, flipped, sets)
    for a, b in zip(was.sides(0), now.sides(0), strict=True):
        np.testing.assert_array_equal(a.mean, b.mean)
        np.testing.assert_array_equal(a.variance, b.variance)
    assert (was.sides(1)[0].count != now.sides(1)[0].count).any()


def test_blocks_of_records_change_nothing(cells, monkeypatch):
    value, use, member = cells
    sets = without(np.array([1, 2]), 7)
    whole = summed(value, use, member, sets)
    monkeypatch.setattr(sums, "BLOCK", 3 * 7 * 11)
    parts = summed(value, use, member, sets)
    np.testing.assert_allclose(whole.total, parts.total, atol=1e-12)
    np.testing.assert_allclose(whole.square, parts.square, atol=1e-12)
    np.testing.assert_array_equal(whole.level, parts.level)


def test_cells_that_are_not_used_have_no_influence(cells):
    value, use, member = cells
    other = np.where(use, value, -1e9)
    everybody = np.ones((1, 7), dtype=bool)
    pairs = zip(
        summed(value, use, member, everybody).sides(), summed(other, use, member, everybody).sides(), strict=True
    )
    for a, b in pairs:
        np.testing.assert_array_equal(a.mean, b.mean)
        np.testing.assert_array_equal(a.variance, b.variance)


def test_a_record_on_which_all_models_agree_has_nothing_left(rng):
    """0.1 + 0.1 + 0.1 is not 0.3: a plain mean would leave a last digit, which is ranked like a signal."""
    value = np.repeat(rng.normal(size=(2, 300, 1)) / 3, 7, axis=2)
    use = rng.random((300, 7)) < 0.7
    rest, level = centred(value, use)
    assert (rest == 0).all()
    np.testing.assert_array_equal(level, np.where(use.any(axis=1), value[:, :, 0], 0.0))


def test_the_level_is_the_mean_of_what_was_observed(cells):
    value, use, _ = cells
    some = use.any(axis=1)
    mean = np.where(use, value, 0).sum(axis=2)[:, some] / use.sum(axis=1)[some]
    np.testing.assert_allclose(levels(value, use)[:, some], mean, rtol=1e-14)


def test_the_pooled_variance_is_that_of_records_with_two_models():
    side = Side(np.array([2.0, 1.0, 5.0]), np.zeros((1, 3)), np.array([[1.0, 9.0, 3.0]]))
    assert side.pooled.tolist() == [[2.0]]
    assert Side(np.array([1.0, 0.0]), np.zeros((1, 2)), np.zeros((1, 2))).pooled.tolist() == [[0.0]]
