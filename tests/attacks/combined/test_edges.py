"""Odd evidence: no crash, no warning, finite scores."""

from __future__ import annotations

import numpy as np
import pytest

from jali.attacks.joint import Joint
from jali.core.errors import JaliError
from jali.core.values import Evidence, SignalName, Unit
from jali.stats.roc import auc
from tests.attacks.combined.simulated import added, combined, everyone, evidence, mean, target_and_shadows, two_signals

METRICS = ("auc", "tpr@0.01", "tnr@0.01", "balanced_accuracy")


def leak(rng, signals=2, n=300, models=9, shift=0.8):
    member = rng.random((n, models)) < 0.5
    value = rng.normal(0, 2, (signals, n, 1)) + rng.normal(size=(signals, n, models))
    value[0] += shift * member
    return value, member


def scores(value, member, base=1, units=(), observed=None) -> list[np.ndarray]:
    """Every score of the first model as target."""
    target, shadows = target_and_shadows(value, member, units, observed)
    everybody = np.ones((1, shadows.member.shape[1]), dtype=bool)
    [found] = Joint().learn(shadows, base, METRICS).apply([target], shadows, everybody)
    return [side for one in found.values() for side in (one.score, one.baseline, one.forced)]


@pytest.mark.parametrize("models", [2, 3, 4, 5])
def test_one_to_four_shadow_models(rng, models):
    value, member = leak(rng, models=models, shift=2.0)
    for score in scores(value, member):
        assert np.isfinite(score).all()
        assert auc(score, member[:, 0]) > 0.6


def test_a_constant_signal_and_a_constant_class(rng):
    value, member = leak(rng, signals=4)
    value[1] = 3.0
    value[2] = np.arange(300)[:, None] % 2
    assert all(np.isfinite(score).all() for score in scores(value, member))


def test_a_constant_baseline(rng):
    value, member = leak(rng)
    value = value[::-1].copy()
    value[0] = 0.0
    found = scores(value, member)
    assert all(np.isfinite(score).all() for score in found)
    assert auc(found[2], member[:, 0]) > 0.6


def test_a_copy_adds_nothing(rng):
    value, member = leak(rng, n=600, models=11)
    found = combined(evidence(value[[0, 0]], member), game=everyone(member, 3))
    assert abs(mean(found.score["auc"]) - mean(found.baseline["auc"])) < 0.002
    assert np.isfinite(found.forced["auc"].score).all()


def test_more_signals_than_records(rng):
    value, member = leak(rng, signals=60, n=40, models=7)
    assert all(np.isfinite(score).all() for score in scores(value, member))


def test_tails_as_heavy_as_they_come(rng):
    value, member = leak(rng, signals=3)
    value[1] = rng.standard_cauchy(member.shape) ** 3
    value[2] = np.exp(np.clip(20 * rng.normal(size=member.shape), -80, 80))
    assert all(np.isfinite(score).all() for score in scores(value, member))


@pytest.mark.parametrize("unit", list(Unit))
def test_every_unit_far_out(rng, unit):
    value, member = leak(rng)
    if unit in (Unit.PROBABILITY, Unit.YES_NO):
        value[0] = value[0] > 0
    elif unit is Unit.LOG_PROBABILITY:
        value[0] = -np.exp(value[0] * 3)
    else:
        value[0] *= 1000
    assert all(np.isfinite(score).all() for score in scores(value, member, units=(unit, Unit.PLAIN)))


def test_everybody_is_a_member_of_some_shadow_model_and_nobody_of_another(rng):
    value, member = leak(rng)
    member[:, 2] = True
    member[:, 5] = False
    assert all(np.isfinite(score).all() for score in scores(value, member))


def test_records_that_no_shadow_model_trained_on(rng):
    value, member = leak(rng, shift=2.0, models=12)
    member[:100, 1:] = False
    for score in scores(value, member):
        assert np.isfinite(score).all()
        assert auc(score[:100], member[:100, 0]) > 0.6


def test_an_explainer_that_answers_some_records_only(rng):
    value, member = leak(rng, signals=3, n=500, shift=1.5)
    observed = np.ones(value.shape, dtype=bool)
    observed[1:] = rng.random((1, 500, 9)) < 0.5
    value = np.where(observed, value, 0.0)
    found = Evidence(tuple(SignalName(f"s{i}") for i in range(3)), value, observed, member)
    result = combined(found, metrics=METRICS, game=everyone(member))
    assert all(np.isfinite(guesses.score).all() for guesses in result.score.values())
    assert len(result.score["auc"].score) == observed.all(axis=0).sum()
    assert mean(result.baseline["auc"]) > 0.7


def test_a_record_that_no_shadow_model_was_asked_about_stands_in_the_middle(rng):
    value, member = leak(rng, shift=1.5)
    value[:, :20] += 500  # far from everybody else's level
    observed = np.ones(value.shape, dtype=bool)
    observed[:, :20, 1:] = False
    for score in scores(np.where(observed, value, 0.0), member, observed=observed):
        assert np.isfinite(score).all()
        assert score[:20].max() < np.quantile(score[20:], 0.95)


def test_infinite_signals_are_refused(rng):
    value, member = leak(rng)
    value[1, 7, 3] = np.inf
    with pytest.raises(JaliError, match="'s1' holds missing or infinite values"):
        evidence(value, member)


@pytest.mark.parametrize("size", [1e-200, 1e-20, 1e-8, 1e200])
def test_a_signal_of_very_large_or_small_numbers_is_read_as_others_are(size):
    value, member, _, _ = two_signals(0.0, 0.5, n=300, models=9)
    plain = added(combined(evidence(value, member)))
    stretched = value.copy()
    stretched[1] *= size
    assert added(combined(evidence(stretched, member))) == pytest.approx(plain, abs=0.002)


@pytest.mark.parametrize("size", [1e-20, 1e-8])
def test_a_sparse_signal_of_small_numbers_is_read_as_others_are(size):
    """More than half of the cells are zero, so there is no scale but the plain one."""
    value, member, _, _ = two_signals(0.0, 1.0, n=300, models=9)
    value[1] *= np.random.default_rng(1).random(member.shape) < 0.4
    plain = added(combined(evidence(value, member)))
    value[1] *= size
    assert added(combined(evidence(value, member))) == pytest.approx(plain, abs=1e-9)


def test_a_target_with_larger_numbers_than_any_other_model_is_judged():
    value, member, _, _ = two_signals(0.0, 0.5, n=300, models=9)
    value[1, :20, 0] = 1e300
    found = combined(evidence(value, member), game=everyone(member, 1))
    assert np.isfinite(found.forced["auc"].score).all()
