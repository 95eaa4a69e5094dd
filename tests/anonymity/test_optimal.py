from __future__ import annotations

import numpy as np
import pytest

from jali.anonymity import optimal as _optimal
from jali.anonymity import widening as _widening
from jali.anonymity.grasp import Effort, grasp
from jali.anonymity.optimal import optimal
from tests.anonymity.tables import Rule, around, brute, mixed, pureness, settled


def solved(train, model, rows, k, floor=None, alpha=5):
    crowd, poll, cores = around(train, model, rows)
    start = grasp(crowd, poll, cores, model.logits(train.X).argmax(axis=1), Effort(k, alpha, 2))
    asked = start.pure if floor is None else np.full(len(rows), floor)
    return crowd, cores, start, optimal(crowd, poll, cores, start, k, asked)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("floor", [None, 0.0, 0.6, 0.8, 0.95, 1.0])
@pytest.mark.parametrize("kept", [(), ("sex", "children")])
def test_the_least_box_of_all(seed, floor, kept):
    """Every box there is, tried one by one, for a table of two numbers and two categories, some of them kept."""
    train, model = mixed(40 if not kept else 120, seed, ages=6)
    train = settled(train, kept)
    rows = np.flatnonzero(model.logits(train.X).argmax(axis=1) == 1)[:2]
    _, cores, start, found = solved(train, model, rows, 5, floor)
    for i, row in enumerate(rows):
        asked = start.pure[i] if floor is None else floor
        least = brute(train, model, train.X[row], cores.wanted[i], 5, asked)
        assert found.feasible[i] == np.isfinite(least)
        if found.feasible[i]:
            assert found.loss[i] == pytest.approx(least, abs=1e-9)
            assert found.bound[i] == pytest.approx(least, abs=1e-9)


@pytest.mark.parametrize("seed", [0, 3, 5, 6])
@pytest.mark.parametrize("floor", [0.7, 0.8, 0.9])
def test_wider_boxes_than_the_people_need_count_too_where_they_are_purer(seed, floor):
    """A model that decides each combination by a draw: of these boxes the least one is often not tight."""
    train, _ = mixed(24, seed, ages=4)
    draw = np.random.default_rng(seed).random((4, 4, 4, 2))
    model = Rule(lambda Z: draw[tuple(Z[:, [0, 2, 3, 4]].astype(int).T)] < 0.75)
    rows = np.flatnonzero(model.logits(train.X).argmax(axis=1) == 1)[:2]
    _, cores, _, found = solved(train, model, rows, 4, floor)
    for i, row in enumerate(rows):
        least = brute(train, model, train.X[row], cores.wanted[i], 4, floor)
        assert found.feasible[i] == np.isfinite(least)
        if found.feasible[i]:
            assert found.loss[i] == pytest.approx(least, abs=1e-9)
            assert found.bound[i] == pytest.approx(least, abs=1e-9)


def test_a_short_search_among_wider_boxes_leaves_a_bound_that_holds(monkeypatch):
    monkeypatch.setattr(_widening, "MOST", 1)
    monkeypatch.setattr(_widening, "BATCH", 1)
    train, _ = mixed(24, 0, ages=4)
    draw = np.random.default_rng(0).random((4, 4, 4, 2))
    model = Rule(lambda Z: draw[tuple(Z[:, [0, 2, 3, 4]].astype(int).T)] < 0.75)
    rows = np.flatnonzero(model.logits(train.X).argmax(axis=1) == 1)[:2]
    _, cores, _, found = solved(train, model, rows, 4, 0.8)
    for i, row in enumerate(rows):
        assert found.bound[i] <= brute(train, model, train.X[row], cores.wanted[i], 4, 0.8) + 1e-9


def test_never_worse_than_the_start_and_always_enough_people():
    for seed in range(5):
        train, model = mixed(300, seed, ages=30)
        rows = np.flatnonzero(model.logits(train.X).argmax(axis=1) == 1)[:30]
        crowd, _, start, found = solved(train, model, rows, 10, alpha=20)
        assert (found.loss <= start.loss + 1e-12).all()
        assert (found.pure >= start.pure - 1e-9).all()
        assert (found.bound <= found.loss + 1e-12).all()
        assert crowd.people(found.boxes).min() >= 10
        np.testing.assert_allclose(crowd.ncp(found.boxes), found.loss, atol=1e-12)


def test_pureness_is_what_the_model_says_of_every_combination():
    train, model = mixed(120, 3, ages=15, hard=2.0)
    rows = np.flatnonzero(model.logits(train.X).argmax(axis=1) == 1)[:10]
    crowd, cores, _, found = solved(train, model, rows, 6, alpha=10)
    for i in range(len(rows)):
        box = []
        for q, known in enumerate(crowd.values):
            low, high = found.boxes.low[i, q], found.boxes.high[i, q]
            box.append(known[low : high + 1] if crowd.ranged[q] else known[found.boxes.allowed[i, q, : len(known)]])
        assert found.pure[i] == pytest.approx(pureness(model, cores.rows[i], 1, crowd.quasi.tolist(), box))


def test_a_small_budget_gives_a_bound_that_holds(monkeypatch):
    train, model = mixed(200, 1, ages=40)
    rows = np.flatnonzero(model.logits(train.X).argmax(axis=1) == 1)[:20]
    full = solved(train, model, rows, 10, alpha=20)[3]
    monkeypatch.setattr(_optimal, "NODES", 3)
    few = solved(train, model, rows, 10, alpha=20)[3]
    assert (full.loss - full.bound < 1e-9).all()
    assert (few.bound <= full.loss + 1e-9).all()
    assert (few.loss >= full.loss - 1e-9).all()
    assert (few.loss - few.bound > 1e-9).any()
    monkeypatch.setattr(_optimal, "NODES", 10_000)
    monkeypatch.setattr(_optimal, "TRIED", 1)
    hasty = solved(train, model, rows, 10, floor=0.99, alpha=20)[3]
    sure = np.isfinite(hasty.bound)
    assert (hasty.bound[sure] <= hasty.loss[sure] + 1e-9).all()


def test_what_cannot_be_pure_enough_is_not_there():
    """Only one age is accepted, and nobody else has it."""
    train, _ = mixed(30, 0, ages=30)
    age = train.X[0, 0]
    lone = Rule(lambda Z: age == Z[:, 0])
    crowd, poll, cores = around(train, lone, np.array([0]))
    start = grasp(crowd, poll, cores, lone.logits(train.X).argmax(axis=1), Effort(10, 5, 2))
    found = optimal(crowd, poll, cores, start, 10, np.ones(1))
    same = (train.X[:, 0] == age).sum()
    assert found.feasible[0] == (same >= 10)
    assert not found.feasible[0]
