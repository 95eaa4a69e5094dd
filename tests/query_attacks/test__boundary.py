"""Distances to a boundary that is known exactly."""

from __future__ import annotations

import numpy as np
import pytest

from jali.core.values import Column, Dataset, Schema
from jali.query_attacks import _perturb
from jali.query_attacks._boundary import REACH, Ground, distance


def ground(d, steps=5, probes=64, unit=None, **bounds):
    schema = Schema(tuple(Column(f"x{j}", **bounds) for j in range(d)))
    known = Dataset(np.abs(np.random.default_rng(2).normal(size=(100, d))), np.zeros(100, int), schema)
    return Ground.of(known, np.ones(d) if unit is None else unit, steps, probes, np.random.default_rng(1))


def plane(w):
    return lambda X: (X @ w > 0).astype(int)


@pytest.mark.parametrize(("d", "within"), [(2, 0.01), (5, 0.04), (20, 0.1)])
def test_the_distance_to_a_plane(d, within):
    rng = np.random.default_rng(0)
    w, X = rng.normal(size=d), rng.normal(size=(200, d))
    exact = np.abs(X @ w) / np.linalg.norm(w)
    ratio = distance(plane(w), X, plane(w)(X), ground(d)) / exact
    assert ratio.min() > 1 - 1e-3  # no row with another label is nearer
    assert np.median(ratio) < 1 + within
    assert np.quantile(ratio, 0.9) < 1 + 2 * within


def test_the_distance_to_a_sphere():
    X = np.random.default_rng(0).normal(size=(200, 3))

    def ask(X):
        return (np.linalg.norm(X, axis=1) > 1).astype(int)

    found = distance(ask, X, ask(X), ground(3))
    exact = np.abs(np.linalg.norm(X, axis=1) - 1)
    assert (found > exact - 1e-3).all()
    assert np.quantile(found - exact, 0.95) < 0.03


def test_steps_come_nearer_and_never_go_away():
    rng = np.random.default_rng(0)
    w, X = rng.normal(size=10), rng.normal(size=(100, 10))
    far = [distance(plane(w), X, plane(w)(X), ground(10, steps)).mean() for steps in (0, 2, 5)]
    assert far[0] > far[1] > far[2]


def test_units_scale_the_distance_and_a_column_without_one_stays():
    X = np.array([[3.0, 5.0], [6.0, 5.0]])
    found = distance(lambda X: (X[:, 0] > 0).astype(int), X, np.ones(2), ground(2, unit=np.array([3.0, 0.0])))
    np.testing.assert_allclose(found, [1, 2], rtol=1e-3)
    stuck = distance(lambda X: (X[:, 1] > 0).astype(int), X, np.ones(2), ground(2, unit=np.array([3.0, 0.0])))
    assert stuck.tolist() == [REACH[-1]] * 2


def test_questions_stay_within_the_bounds_and_the_block(monkeypatch):
    """The label changes at -1, where no row may lie."""
    monkeypatch.setattr(_perturb, "ROWS", 256)
    sizes = []

    def ask(X):
        assert X.min() >= 0
        sizes.append(len(X))
        return (X[:, 0] > -1).astype(int)

    X = np.abs(np.random.default_rng(0).normal(size=(50, 2)))
    assert (distance(ask, X, np.ones(50), ground(2, low=0.0)) == REACH[-1]).all()
    assert max(sizes) <= 256


def test_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    w, X = rng.normal(size=4), rng.normal(size=(60, 4))
    whole = distance(plane(w), X, plane(w)(X), ground(4))
    monkeypatch.setattr(_perturb, "ROWS", 200)
    np.testing.assert_array_equal(distance(plane(w), X, plane(w)(X), ground(4)), whole)
