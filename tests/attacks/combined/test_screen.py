"""Trees are loaded where there is something for them to find."""

from __future__ import annotations

import numpy as np
import pytest

from jali.attacks._combined.candidates import ENOUGH, MANY, Half, worth_trees
from jali.attacks._combined.reading import OWN, SUMS
from jali.attacks._combined.screen import _surprise, more_than_linear


def test_sums_with_known_variances_are_compared_with_chi_squared():
    # 4 / 2 + 9 / 3 = 5 with one degree of freedom: P(chi^2 > 5) = .0253
    assert _surprise(np.array([2.0, 3.0, 100.0]), np.array([2.0, 3.0, 0.5])) == pytest.approx(0.0253, abs=1e-4)


def cells(rng, leak):
    truth = rng.random(11_000) < 0.5
    table = rng.normal(size=(8, len(truth)))
    table[0] += 0.5 * truth
    if leak == "product":
        turn = rng.random(len(truth)) < 0.55
        table[2] = np.abs(table[2]) * np.sign(table[1]) * np.where(truth == turn, 1, -1)
    if leak == "spread":
        table[3] *= 1 + 0.1 * truth
    # What a linear rule can know, and its noise.
    return table, truth, table[0] + 0.01 * table[4]


@pytest.mark.parametrize("leak", ["product", "spread"])
def test_what_no_linear_rule_finds_is_seen(leak):
    assert all(more_than_linear(*cells(np.random.default_rng(seed), leak)) for seed in range(5))


def test_without_such_a_leak_there_is_rarely_a_reason():
    found = sum(more_than_linear(*cells(np.random.default_rng(seed), "")) for seed in range(40))
    assert found <= 6  # 2 expected; more than 6 have probability .003


def half(rng, size):
    truth = rng.random(size) < 0.5
    return Half(rng.normal(size=(2, size)) + truth, truth, np.array([size]), np.array([OWN, SUMS]))


def test_trees_need_cells_in_both_halves(rng):
    assert worth_trees([half(rng, MANY), half(rng, MANY)])
    assert not worth_trees([half(rng, MANY), half(rng, ENOUGH - 1)])
    assert not worth_trees([half(rng, MANY), Half.room([], np.array([OWN, SUMS]))])
    assert not worth_trees([half(rng, ENOUGH), half(rng, ENOUGH)])
