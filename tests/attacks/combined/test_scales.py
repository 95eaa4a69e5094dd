"""Scales keep the order of a signal, and its unit is seen from its values where none is declared."""

from __future__ import annotations

import numpy as np
import pytest

from jali.attacks._combined.scales import CHANGES, changes, unit_of
from jali.core.values import Unit

RANGES = {
    Unit.LOG_ODDS: (-30.0, 30.0),
    Unit.LOG_PROBABILITY: (-30.0, 0.0),
    Unit.PROBABILITY: (0.0, 1.0),
    Unit.LOG: (-20.0, 20.0),
    Unit.MINUS_LOG: (-20.0, 20.0),
    Unit.YES_NO: (0.0, 1.0),
    Unit.PLAIN: (-5.0, 50.0),
}


@pytest.mark.parametrize("unit", list(Unit))
def test_every_scale_keeps_the_order(unit):
    grid = np.linspace(*RANGES[unit], 201)
    for change in changes(unit, grid[None], np.ones((1, 201), dtype=bool)):
        found = change(grid)
        assert np.isfinite(found).all()
        assert (np.diff(found) >= 0).all()
        assert found[-1] > found[0]


def test_probabilities_and_log_odds_are_the_same_on_each_others_scales():
    p = np.array([0.0, 0.2, 0.5, 1.0])
    t = np.log(np.clip(p, 1e-12, 1)) - np.log(np.clip(1 - p, 1e-12, 1))
    from_odds = [change(t) for change in CHANGES[Unit.LOG_ODDS]]
    from_share = [change(p) for change in CHANGES[Unit.PROBABILITY]]
    assert from_odds[1] == pytest.approx(from_share[0], abs=1e-9)
    assert from_odds[2] == pytest.approx(from_share[1], abs=2e-5)
    assert from_share[2][1:3] == pytest.approx([np.log(0.25), 0.0])
    assert from_odds[3] == pytest.approx(np.log(np.clip(p, 1e-12, 1)), abs=1e-9)


def test_logarithms_are_undone():
    assert CHANGES[Unit.LOG][1](np.log([2.0, 5.0])) == pytest.approx([2.0, 5.0])
    assert CHANGES[Unit.MINUS_LOG][1](-np.log([2.0, 5.0])) == pytest.approx([-2.0, -5.0])
    assert np.isfinite(CHANGES[Unit.LOG][1](np.array([1e6, -1e6]))).all()


@pytest.mark.parametrize(
    ("values", "unit"),
    [
        ([0.0, 1.0, 1.0], Unit.YES_NO),
        ([0.0, 0.5, 1.0], Unit.PROBABILITY),
        ([0.0, 0.5, 1.5], Unit.PLAIN),
        ([-0.1, 0.5, 1.0], Unit.PLAIN),
    ],
)
def test_the_unit_is_seen_from_the_values(values, unit):
    value = np.array([values])
    assert unit_of(Unit.PLAIN, value, np.ones(value.shape, dtype=bool)) is unit


def test_a_declared_unit_stays_and_hidden_values_do_not_count():
    value = np.array([[0.0, 1.0, 7.0]])
    seen = np.array([[True, True, False]])
    assert unit_of(Unit.PLAIN, value, seen) is Unit.YES_NO
    assert unit_of(Unit.LOG, value, seen) is Unit.LOG
    assert unit_of(Unit.PLAIN, value, np.zeros((1, 3), dtype=bool)) is Unit.PLAIN


def test_a_signal_that_hardly_varies_has_one_scale():
    value = np.full((4, 5), 7.0)
    assert len(changes(Unit.PLAIN, value, np.ones(value.shape, dtype=bool))) == 1
