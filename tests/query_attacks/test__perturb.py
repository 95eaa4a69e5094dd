"""What copies look like, how many keep their label, and how many are held at once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from jali.core.values import Column, Dataset, Schema
from jali.query_attacks import _perturb
from jali.query_attacks._perturb import Moves, additive, deviations, legal, multiplicative, robustness

SCHEMA = Schema(
    (
        Column("age", "integer", 18, 90),
        Column("city", "category", categories=("a", "b", "c")),
        Column("income", "number", 0.0),
        Column("flat"),
    )
)
RNG = np.random.default_rng(0)
KNOWN = Dataset(
    np.stack(
        [RNG.integers(18, 90, 400), RNG.choice(3, 400, p=[0.7, 0.3, 0.0]), RNG.exponential(3, 400), np.full(400, 0.1)],
        axis=1,
    ).astype(float),
    np.zeros(400, int),
    SCHEMA,
)


def test_additive_noise_has_the_known_deviation_and_codes_the_known_frequencies():
    moves = additive(KNOWN, 20_000, 0.5, 0.4, np.random.default_rng(0))
    np.testing.assert_allclose(moves.shift[:, [0, 2]].std(axis=0), 0.5 * KNOWN.X[:, [0, 2]].std(axis=0), rtol=0.03)
    assert (moves.factor[:, [0, 2, 3]] == 1).all()
    assert not moves.shift[:, 3].any()  # constant columns stay
    flipped = moves.factor[:, 1] == 0
    assert flipped.mean() == pytest.approx(0.4, abs=0.015)
    expected = np.bincount(KNOWN.X[:, 1].astype(int), minlength=3) / 400
    np.testing.assert_allclose(
        np.bincount(moves.shift[flipped, 1].astype(int), minlength=3) / flipped.sum(), expected, atol=0.02
    )
    assert not moves.shift[~flipped, 1].any()


def test_factors_lie_in_their_bands_on_both_sides_and_codes_stay():
    moves = multiplicative(SCHEMA, 20_000, 0.1, 0.5, np.random.default_rng(0))
    away = np.abs(moves.factor[:, [0, 2, 3]] - 1)
    assert away.min() >= 0.1
    assert away.max() <= 0.5
    assert away.mean() == pytest.approx(0.3, abs=0.005)
    assert (moves.factor[:, 0] > 1).mean() == pytest.approx(0.5, abs=0.02)
    assert (moves.factor[:, 1] == 1).all()
    assert not moves.shift.any()


def test_a_constant_column_moves_under_factors_and_a_zero_never_does():
    moves = multiplicative(SCHEMA, 50, 0.1, 0.5, np.random.default_rng(0))
    changed = np.array([40.0, 2.0, 0.0, 0.1]) * moves.factor + moves.shift
    assert (changed[:, 3] != 0.1).all()
    assert not changed[:, 2].any()
    assert (changed[:, 1] == 2).all()


def test_rows_are_made_legal():
    X = np.array([[17.2, 1, -3.0, -9.0], [40.6, 2, 5.5, 9.0], [99.0, 0, 0.0, 0.0]])
    assert legal(X, SCHEMA).tolist() == [[18, 1, 0, -9], [41, 2, 5.5, 9], [90, 0, 0, 0]]


def test_robustness_under_gaussian_noise_is_that_of_the_normal_distribution():
    """P(x + s e > 0) = Phi(x / s)."""
    known = Dataset(np.random.default_rng(0).normal(size=(500, 1)), np.zeros(500, int), Schema((Column("x"),)))
    moves = additive(known, 20_000, 0.7, 0.0, np.random.default_rng(1))
    X = np.linspace(0, 2, 9)[:, None]
    found = robustness(lambda X: (X[:, 0] > 0).astype(int), X, np.ones(9, int), moves, known.schema)
    np.testing.assert_allclose(found, norm.cdf(X[:, 0] / (0.7 * deviations(known)[0])), atol=0.012)


def test_robustness_is_what_a_loop_over_copies_counts_and_blocks_change_nothing(monkeypatch):
    moves = additive(KNOWN, 30, 0.5, 0.4, np.random.default_rng(0))
    X, wanted = KNOWN.X[:17], np.arange(17) % 2

    def ask(X):
        return ((X[:, 0] > 50) ^ (X[:, 1] == 1)).astype(int)

    slow = [
        np.mean([ask(legal((x * f + s)[None], SCHEMA))[0] == w for f, s in zip(moves.factor, moves.shift, strict=True)])
        for x, w in zip(X, wanted, strict=True)
    ]
    whole = robustness(ask, X, wanted, moves, SCHEMA)
    np.testing.assert_allclose(whole, slow)
    for most in (1, 7, 64):
        sizes = []

        def counted(X, sizes=sizes):
            sizes.append(len(X))
            return ask(X)

        monkeypatch.setattr(_perturb, "ROWS", most)
        np.testing.assert_array_equal(robustness(counted, X, wanted, moves, SCHEMA), whole)
        assert max(sizes) <= most
        assert sum(sizes) == 17 * 30


def test_wide_rows_are_asked_about_in_smaller_blocks():
    assert _perturb.at_once(10) == _perturb.ROWS
    assert _perturb.at_once(1 << 12) * (1 << 12) <= _perturb.CELLS
    assert _perturb.at_once(1 << 30) == 1


def test_nobody_to_ask_about_asks_nothing():
    moves = Moves(np.ones((3, 4)), np.zeros((3, 4)))
    assert robustness(lambda X: 1 / 0, KNOWN.X[:0], np.zeros(0, int), moves, SCHEMA).shape == (0,)
