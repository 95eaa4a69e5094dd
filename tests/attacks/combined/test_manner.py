"""Models that answer on a level or on a scale of their own: it is taken off, and no explanation seems to help by it."""

from __future__ import annotations

import numpy as np
import pytest

from jali.attacks._combined.choice import learn
from jali.attacks._combined.features import centred
from jali.attacks._combined.manner import FEWEST, Manner
from jali.attacks._combined.reading import Reading, Tuning, choose_lens, without
from jali.core.guesses import Shadows
from jali.stats.intervals import contrast
from jali.stats.two_way import TwoWay
from tests.attacks.combined.simulated import combined, evidence, mean, target_and_shadows

FIRST = np.array([0])
TUNING = Tuning(11.0, 0.02)


def answers(rng, records=400, models=7, level=1.0) -> tuple[np.ndarray, np.ndarray]:
    """Normal answers (1, N, K) around a level of each record, and the levels (K,) of the models."""
    levels = level * rng.normal(size=models)
    return rng.normal(0, 2, (1, records, 1)) + levels + rng.normal(size=(1, records, models)), levels


def seen(value) -> np.ndarray:
    return np.ones(value.shape[1:], dtype=bool)


def test_levels_are_found(rng):
    value, levels = answers(rng)
    found = Manner.of(value, seen(value), FIRST)
    assert found.differ.all()
    np.testing.assert_allclose(found.level[0] - np.median(found.level[0]), levels - np.median(levels), atol=0.3)


def test_by_hand(rng):
    """The level is the middle of what is left without the records' middles; of one model, of its answers."""
    value, _ = answers(rng)
    found = Manner.of(value, seen(value), FIRST)
    np.testing.assert_array_equal(found.level[0], TwoWay.of(value[0], seen(value)).middle)
    away = np.array([[7.0, 10.0, 8.0] * 10 + [99.0] * 40])
    assert found.of_one(away, np.arange(70) < 30).tolist() == [[8.0]]


def test_models_that_differ_by_chance_keep_their_answers(rng):
    for records in (30, 100, 2000):
        value, _ = answers(rng, records, 12, level=0.0)
        found = Manner.of(value, seen(value), FIRST)
        assert not found.differ.any()
        assert (found.level == 0).all()


def test_nothing_is_taken_off_where_little_is_known(rng):
    value, _ = answers(rng, FEWEST - 1)
    assert not Manner.of(value, seen(value), FIRST).differ.any()
    few, _ = answers(rng, models=2)
    assert not Manner.of(few, seen(few), FIRST).differ.any()
    # Most answers are the usual one, so that no distance is known.
    same = np.zeros((1, 200, 8))
    same[0, ::3] = rng.normal(size=(67, 8))
    assert not Manner.of(same, seen(same), FIRST).differ.any()
    wide, _ = answers(rng)
    manner = Manner.of(wide, seen(wide), FIRST)
    assert manner.of_one(np.full((1, 400), 3.0), np.arange(400) < FEWEST - 1).tolist() == [[0.0]]


def test_answers_without_their_manner_are_those_of_models_without_one(rng):
    value, levels = answers(rng, 1000, 9, level=3.0)
    use = rng.random(value.shape[1:]) < 0.7
    rest, _ = centred(value, use, Manner.of(value, use, FIRST))
    bare, _ = centred(value - levels, use)
    assert np.corrcoef(rest[0][use], bare[0][use])[0, 1] > 0.98
    assert not rest[0][~use].any()


def test_a_shadow_model_is_read_like_a_target(rng):
    """But for a constant: levels are those of all shadow models, with it or without."""
    member = rng.random((500, 9)) < 0.5
    value, _ = answers(rng, 500, 9, level=2.0)
    value = value + member
    _, every = target_and_shadows(np.concatenate([value[:, :, :1], value], axis=2), np.hstack([member[:, :1], member]))
    lens = choose_lens(every, (np.array([1, 3, 5]),), TUNING)
    assert lens.differ.tolist() == [0]
    rest = np.arange(9) != 4
    shadow = Reading.of(lens, every, without(np.array([4]), 9)).table(0, value[:, :, 4], seen(value)[:, 4])
    target = Reading.of(lens, every.models(rest), np.ones((1, 8), dtype=bool))
    for one, other in zip(shadow, target.table(0, value[:, :, 4], seen(value)[:, 4]), strict=True):
        assert one.std() == other.std() == 0 or np.corrcoef(one, other)[0, 1] > 0.97


def test_yes_or_no_has_no_manner(rng):
    member = rng.random((300, 8)) < 0.5
    value = (rng.random((1, 300, 8)) < np.linspace(0.1, 0.9, 8)).astype(np.float64)
    lens = choose_lens(Shadows(value, np.ones(value.shape, dtype=bool), member), (np.arange(3),), TUNING)
    assert not len(lens.differ)


def drawn(rng, level: float, scale: float, signals: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Signals (S, N, M) of models with a manner and of the same without, the first with a shift, and membership."""
    member = rng.random((1000, 12)) < 0.5
    noise = rng.normal(size=(signals, 1000, 12))
    noise[0] += 0.75 * member
    ground = rng.normal(0, 2, (signals, 1000, 1))
    models = (signals, 1, 12)
    return (
        ground + level * rng.normal(size=models) + np.exp(scale * rng.normal(size=models)) * noise,
        ground + noise,
        member,
    )


@pytest.mark.parametrize(("level", "scale"), [(1.0, 0.0), (0.0, 0.5), (3.0, 0.5)])
def test_the_attack_is_as_strong_as_without_manners(level, scale):
    value, plain, member = drawn(np.random.default_rng(3), level, scale, 1)
    wanted = mean(combined(evidence(plain, member)).score["auc"])
    assert mean(combined(evidence(value, member)).score["auc"]) > wanted - 0.006


@pytest.mark.parametrize(("level", "scale"), [(1.0, 0.0), (0.0, 0.5)])
def test_an_explanation_that_tells_nothing_adds_nothing(level, scale):
    """Levels go together by chance, which moved all targets alike: 15 to 18 of 40 intervals missed zero."""
    missed = 0
    for seed in range(12):
        value, _, member = drawn(np.random.default_rng([5, seed]), level, scale, 2)
        found = combined(evidence(value, member))
        added, _ = contrast("auc", found.score["auc"], found.baseline["auc"], np.random.default_rng(0))
        missed += not added.low <= 0 <= added.high
        assert abs(added.value) < 0.002
    assert missed <= 2


def test_levels_are_read_without_membership(rng):
    member = rng.random((300, 8)) < 0.5
    value, _ = answers(rng, 300, 8, level=2.0)
    both = [Shadows(value, np.ones(value.shape, dtype=bool), side) for side in (member, ~member)]
    lenses = [learn(one, 1, ("auc",), TUNING).baseline.lens for one in both]
    first, second = (lens.features.manner(one, lens.differ) for lens, one in zip(lenses, both, strict=True))
    np.testing.assert_array_equal(first.level, second.level)
