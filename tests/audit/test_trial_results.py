"""Results of trials as arrays: the same rows and guesses come back, and damage is noticed."""

from __future__ import annotations

import numpy as np
import pytest

from jali.audit.plan import plan
from jali.audit.trial_results import Drawer, packed, unpacked
from jali.audit.trials import guess_by_metric, rows_of
from jali.core import registry
from jali.store import Store
from tests.conftest import planted


@pytest.fixture(scope="module")
def result():
    evidence, game = planted(0.4, n=80, models=6, signals=2)
    trial = next(t for t in plan(evidence, game, (registry.build("attack", "lira"),)).singles)
    found = guess_by_metric(evidence, game, trial)
    return rows_of(trial, found.score, game, np.random.default_rng(0)), found


def test_rows_and_guesses_come_back_to_the_bit(result):
    rows, found = result
    same_rows, same = unpacked(packed(rows, found))
    assert same_rows == rows
    assert list(same.score) == list(found.score)
    for metric, guesses in found.score.items():
        for name in ("score", "truth", "unit", "record", "group", "weight"):
            np.testing.assert_array_equal(getattr(same.score[metric], name), getattr(guesses, name))
    assert len({id(g) for g in same.score.values()}) == len({id(g) for g in found.score.values()})


def test_guesses_are_kept_in_few_bytes(result):
    """Whole numbers below 256 take a byte, and weights that are all 1 nothing."""
    arrays = packed(*result)
    guesses = next(iter(result[1].score.values()))
    kinds = {array.dtype.name for name, array in arrays.items() if array.shape == guesses.unit.shape}
    assert kinds == {"float64", "bool", "uint8"}
    assert sum(array.dtype == np.float64 and len(array) == 0 for array in arrays.values()) == 1


def test_guesses_that_are_not_kept_are_not_written(result):
    rows, _ = result
    assert list(packed(rows, None)) == ["rows"]
    assert unpacked(packed(rows, None)) == (rows, None)


def test_a_drawer_is_filled_once_and_again_when_it_is_damaged(result, tmp_path):
    made = []
    drawer = Drawer(Store(tmp_path), "ab" * 20)
    assert drawer.load() is None
    for _ in range(2):
        drawer.fill(lambda: made.append(1) or result)
    assert len(made) == 1
    assert drawer.load()[0] == result[0]
    drawer.store.save(drawer.key, {"rows": np.zeros(3, dtype=np.uint8)})
    assert drawer.load() is None
    drawer.fill(lambda: made.append(1) or result)
    assert len(made) == 2
