"""Directions in which noise and shifts are independent."""

from __future__ import annotations

import numpy as np
import pytest

from jali.attacks._combined.discriminant import directions, shrinkage
from jali.attacks._combined.features import centred

EVERY = 1e-9  # no shrinkage to speak of


def cells(rng, noise, scatter, n=4000, models=12):
    """Records whose noise and whose shifts have these covariances, less their levels; which are used; membership."""
    member = rng.random((n, models)) < 0.5
    g = len(noise)
    residual = np.linalg.cholesky(noise) @ rng.normal(size=(g, n * models))
    own = np.linalg.cholesky(scatter) @ rng.normal(size=(g, n))
    value = residual.reshape(g, n, models) + own[:, :, None] * member
    use = np.ones(member.shape, dtype=bool)
    return centred(value, use)[0], use, member


def within(rest, member, weights) -> np.ndarray:
    """Covariance within records and sides, after the transformation."""
    residual = np.zeros_like(rest)
    freedom = 0
    for side in (member, ~member):
        count = side.sum(axis=1)
        mean = (rest * side).sum(axis=2) / np.maximum(count, 1)
        residual += (rest - mean[:, :, None]) * side
        freedom += np.maximum(count - 1, 0).sum()
    turned = np.tensordot(weights, residual, 1).reshape(len(weights), -1)
    return turned @ turned.T / freedom


def test_residuals_are_uncorrelated_with_variance_one(rng):
    noise = np.array([[4.0, 1.8, 0.0], [1.8, 1.0, 0.2], [0.0, 0.2, 9.0]])
    rest, use, member = cells(rng, noise, np.eye(3))
    weights = directions(rest, use, member, EVERY, ())[0]
    np.testing.assert_allclose(within(rest, member, weights), np.eye(3), atol=1e-6)


def test_shifts_are_uncorrelated_too(rng):
    scatter = np.array([[2.0, 1.5], [1.5, 2.0]])
    weights = directions(*cells(rng, np.array([[1.0, 0.8], [0.8, 1.0]]), scatter), EVERY, ())[0]
    moved = weights @ scatter @ weights.T
    assert abs(moved[0, 1]) < 0.05 * np.sqrt(moved[0, 0] * moved[1, 1])


@pytest.mark.parametrize("rounding", [0.0, 1e-12, 1e-8])
def test_copies_stay_copies_in_directions(rng, rounding):
    """What two copies differ by in their last digits is not blown up."""
    value = np.repeat(rng.normal(size=(1, 300, 8)), 2, axis=0) + rounding * rng.normal(size=(2, 300, 8))
    member = rng.random((300, 8)) < 0.5
    use = np.ones(member.shape, dtype=bool)
    rest = centred(value, use)[0]
    weights = directions(rest, use, member, 0.02, ())[0]
    white = np.einsum("gf,fnk->gnk", weights, rest)
    assert np.isfinite(weights).all()
    assert np.sort(np.abs(white).max(axis=(1, 2)))[0] < 0.01
    assert np.abs(white).max() < 20


def test_a_direction_of_small_variance_keeps_what_it_tells(rng):
    """Twenty columns that add up to a number with a hundredth of their deviation: it is one of the directions."""
    z = rng.normal(size=(19, 600, 12))
    last = 0.01 * rng.normal(size=(1, 600, 12)) - z.sum(axis=0)
    value = np.concatenate([z, last])
    member = rng.random((600, 12)) < 0.5
    use = np.ones(member.shape, dtype=bool)
    rest = centred(value, use)[0]
    weights = directions(rest, use, member, 0.02, ())[0]
    np.testing.assert_allclose(within(rest, member, weights), np.eye(20), atol=1e-3)


def test_few_cells_shrink_and_many_do_not():
    assert shrinkage(20, 100.0, 0.02) == 0.02
    assert 0.0 < shrinkage(20, 400.0, 0.02) < 0.02
    assert shrinkage(20, 5_000.0, 0.02) < 1e-6
    assert shrinkage(3, 0.0, 0.02) == 0.02


def test_chance_turns_no_axes(rng):
    """Shifts without any structure leave each signal in a direction of its own: axes made of noise would be found again
    in the shadow models that they were made of."""
    weights = np.abs(directions(*cells(rng, np.eye(30), 1e-6 * np.eye(30), n=1000), 0.02, ())[0])
    assert np.sort(weights.max(axis=1)).min() > 0.9
    assert (weights > 0.5).sum() == 30


@pytest.mark.parametrize("n", [3, 8])
def test_fewer_records_than_signals(rng, n):
    assert np.isfinite(directions(*cells(rng, np.eye(8), np.eye(8), n=n), 0.02, (np.arange(2),))).all()


def test_a_part_is_read_in_directions_that_come_from_the_other_models(rng):
    """W'W is the inverse of the shrunken covariance within records and sides, here summed cell by cell."""
    rest, use, member = cells(rng, np.array([[1.0, 0.5], [0.5, 1.0]]), np.eye(2), n=4)
    use = use & (rng.random(use.shape) < 0.9)
    part = np.array([0, 3, 4])
    _, weights = directions(rest * use, use, member, 0.1, (part,))
    every, _ = directions(rest * use, use, member, 0.1, (part,))
    others = [k for k in range(use.shape[1]) if k not in part]
    scatter = np.zeros((2, 2))
    freedom = 0
    for n in range(len(use)):
        for inside in (False, True):
            mine = [rest[:, n, k] for k in others if use[n, k] and member[n, k] == inside]
            freedom += max(len(mine) - 1, 0)
            for x in mine:
                scatter += np.outer(x - np.mean(mine, axis=0), x - np.mean(mine, axis=0))
    correlation = scatter[0, 1] / np.sqrt(scatter[0, 0] * scatter[1, 1])
    deviation = np.sqrt(np.diag(np.linalg.inv(every.T @ every)))  # those of all models
    kept = 1 - shrinkage(2, freedom, 0.1)
    expected = np.array([[1.0, kept * correlation], [kept * correlation, 1.0]]) * np.outer(deviation, deviation)
    np.testing.assert_allclose(np.linalg.inv(weights.T @ weights), expected, rtol=1e-9)


def test_without_other_models_nothing_is_known_to_go_together(rng):
    rest, use, member = cells(rng, np.array([[1.0, 0.8], [0.8, 1.0]]), np.eye(2), n=40)
    _, weights = directions(rest, use, member, 0.1, (np.arange(use.shape[1]),))
    assert np.linalg.inv(weights.T @ weights)[0, 1] == pytest.approx(0.0, abs=1e-9)
