"""Every check of the sanity suite must be able to fail."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from jali.audit import sanity
from jali.audit.trials import Trial, guess
from jali.core import registry
from jali.core.guesses import Guesses
from jali.core.values import Channel, Column, Dataset, Game, Schema, SignalName
from jali.stats.roc import auc
from tests.conftest import planted

TRIAL = Trial(registry.build("attack", "lira"), (SignalName("s0"),), Channel.SCORE)


def table(n: int = 900, shift: float = 0.0) -> tuple[Dataset, Game]:
    """The first third trained the model; with a shift, its rows look different."""
    rng = np.random.default_rng(0)
    member = (np.arange(n) < n // 3)[:, None]
    X = rng.normal(size=(n, 4)) + shift * member
    data = Dataset(X, rng.integers(0, 2, n), Schema(tuple(Column(f"x{j}") for j in range(4))))
    both = np.concatenate([member, np.zeros((n, 1), bool)], axis=1)
    return data, Game(both, [0], np.array([[False, True]]), np.ones((n, 1), bool))


def test_blind_baseline_passes_on_one_population_and_fails_on_two():
    rng = np.random.default_rng(0)
    assert sanity.blind(*table(), rng).passed
    check = sanity.blind(*table(shift=0.6), rng)
    assert not check.passed
    assert check.low > 0.5


def test_blind_baseline_rarely_cries_wolf():
    failures = 0
    for seed in range(25):
        data, _ = table(300)
        member = np.random.default_rng(seed).random((300, 2)) < 0.5
        game = Game(member, [0], np.array([[False, True]]), np.ones((300, 1), bool))
        failures += not sanity.blind(data, game, np.random.default_rng(seed)).passed
    assert failures == 0


def test_null_target_passes_when_shadows_are_independent_and_fails_when_they_share_the_targets_rows():
    evidence, game = planted(1.5, n=500, models=12)
    assert sanity.null_target(evidence, game, TRIAL).passed
    member = np.repeat(evidence.member[:, :1], 12, axis=1)
    member[:, 1::2] = evidence.member[:, 1::2]
    rng = np.random.default_rng(1)
    copied = rng.normal(size=(500, 1)) + 1.5 * member + rng.normal(size=(500, 12))
    same = type(evidence)((SignalName("s0"),), copied[None], np.ones((1, 500, 12), bool), member)
    shadows = np.ones((1, 12), bool)
    shadows[0, :2] = False
    leaky = Game(member, [0], shadows, np.ones((500, 1), bool))
    assert not sanity.null_target(same, leaky, TRIAL).passed


def test_whom_a_null_target_trained_on_by_chance_is_weighed_out():
    """Scores follow whom the model trained on, by chance more members of the target than others: .5, not .52."""
    rng = np.random.default_rng(0)
    truth = np.arange(1000) < 500
    trained = np.concatenate([np.arange(500) < 270, np.arange(500) < 250])
    guesses = Guesses(3.0 * trained + rng.normal(size=1000), truth, np.zeros(1000, dtype=int), np.arange(1000))
    evened = sanity._evened(guesses, trained, truth)
    assert [evened.weight[truth & trained].sum(), evened.weight[~truth & trained].sum()] == pytest.approx([260, 260])
    assert abs(auc(guesses.score, truth) - 0.5) > 2 * abs(auc(guesses.score, truth, evened.weight) - 0.5)
    # No chance: it trained on what the target trained on.
    assert sanity._evened(guesses, np.concatenate([np.arange(500) < 400, np.arange(500) < 250]), truth) is guesses


def test_orientation_fails_for_an_attack_that_is_upside_down():
    evidence, game = planted(1.5, n=400, models=10)
    guesses = guess(evidence, game, TRIAL)
    assert sanity.orientation(guesses).passed
    flipped = type(guesses)(-guesses.score, guesses.truth, guesses.unit, guesses.record)
    assert not sanity.orientation(flipped).passed


def test_parity_fails_when_outputs_depend_on_company():
    from jali.audit.one_tile import company

    class Standardising:
        def logits(self, X):
            return X - X.mean(axis=0)

    class Plain:
        def logits(self, X):
            return X * 2.0

    data, game = table()
    assert sanity.parity(company(Plain(), data, game.member[:, 0])).passed
    rng = np.random.default_rng(0)
    mixed = data.rows(rng.permutation(len(data)))
    assert not sanity.parity(company(Standardising(), mixed, rng.random(len(data)) < 0.5)).passed


def test_rows_per_person_fails_where_only_one_side_has_several():
    data, game = table(600)
    inside = game.member[:, 0]
    alike = np.arange(600) // 4
    grouped = np.where(inside, np.arange(600), 1000 + np.arange(600) // 10)
    check = [sanity.rows_per_person(dataclasses.replace(data, groups=g), game)[0] for g in (alike, grouped)]
    assert [c.passed for c in check] == [True, False]
    assert sanity.rows_per_person(data, game) == []


def test_a_difference_in_categories_is_seen_whatever_their_numbers():
    """Sixty categories, of which members have mostly those with an odd number."""
    rng = np.random.default_rng(0)
    inside = np.arange(2000) < 1000
    odd = rng.random(2000) < np.where(inside, 0.7, 0.3)
    X = (2 * rng.integers(0, 30, 2000) + odd)[:, None].astype(float)
    schema = Schema((Column("town", kind="category", categories=tuple(map(str, range(60)))),), ("no", "yes"))
    data = Dataset(X, rng.integers(0, 2, 2000), schema)
    game = Game(inside[:, None], np.array([0]), np.zeros((1, 1), bool), np.ones((2000, 1), bool))
    assert not sanity.blind(data, game, rng).passed
