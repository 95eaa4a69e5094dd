"""Several targets at once are scored as one by one, and without a trace of the model that is attacked."""

import numpy as np
import pytest

from jali.attacks._correlation import correlations
from jali.core import registry
from jali.core.guesses import Shadows, Target
from jali.core.values import Unit

ATTACKS = pytest.mark.parametrize(
    "text",
    [
        "threshold",
        "calibrated",
        "ratio",
        "ratio(lift=0.3)",
        "offline_lrt",
        'offline_lrt(spread="record")',
        "lira",
        'lira(spread="shrunken")',
        'lira(spread="record")',
        'lira(spread="common")',
        "offline_joint",
    ],
)


def drawn(seed=0, n=300, models=9):
    """A signal with gaps, far from zero, with records that have few cells on one side; and its sets of models."""
    rng = np.random.default_rng(seed)
    member = rng.random((n, models)) < 0.5
    member[:5] = True
    member[5:10] = False
    observed = rng.random((n, models)) < 0.9
    observed[10:12] = False
    value = np.where(observed, 50.0 + rng.normal(size=(n, 1)) + member + rng.normal(size=(n, models)), 0.0)
    return Shadows(value[None], observed[None], member, (Unit.PLAIN,)), ~np.eye(models, dtype=bool)


@ATTACKS
def test_several_targets_at_once_are_scored_as_one_by_one(text):
    attack = registry.build("attack", text)
    shadows, sets = drawn()
    together = attack.scores(shadows.value.swapaxes(1, 2), shadows, sets)
    for t, mine in enumerate(sets):
        target = Target(shadows.value[:, :, t], shadows.observed[:, :, t])
        np.testing.assert_allclose(together[t], attack.score(target, shadows.models(mine)), rtol=1e-9, atol=1e-9)


@ATTACKS
def test_whether_the_target_trained_on_a_record_leaves_no_trace(text):
    attack = registry.build("attack", text)
    shadows, sets = drawn(1)
    scores = attack.scores(shadows.value.swapaxes(1, 2), shadows, sets)
    for t in range(len(sets)):
        member = shadows.member.copy()
        member[:, t] = ~member[:, t]
        turned = Shadows(shadows.value, shadows.observed, member, shadows.units)
        np.testing.assert_array_equal(attack.scores(shadows.value.swapaxes(1, 2), turned, sets)[t], scores[t])


def test_a_target_far_above_its_shadow_models_keeps_their_ratio():
    value = np.array([[[900.0, 1.0, 2.0]]])
    shadows = Shadows(value, np.ones((1, 1, 3), bool), np.zeros((1, 3), bool), (Unit.PLAIN,))
    score = registry.build("attack", "ratio").scores(value.swapaxes(1, 2), shadows, ~np.eye(3, dtype=bool))
    assert score[0, 0] == pytest.approx(900 - np.log((np.e + np.e**2) / 2))


def several_signals(seed, n=250, models=8):
    """Five signals that go together, two of them observed in fewer cells, and one that never varies."""
    rng = np.random.default_rng(seed)
    member = rng.random((n, models)) < 0.5
    observed = np.ones((5, n, models), dtype=bool)
    observed[2:4] = rng.random((n, models)) < 0.4
    observed[4] = rng.random((n, models)) < 0.8
    noise = rng.normal(size=(5, n, models)) + rng.normal(size=(n, models))
    value = 40.0 + rng.normal(size=(5, n, 1)) + 0.5 * member + noise
    value[4] = 3.0
    return Shadows(np.where(observed, value, 0.0), observed, member)


def residual_correlation(shadows):
    """The correlation of all signals, from residuals that are laid out cell by cell."""
    rest = []
    for value, observed in zip(shadows.value, shadows.observed, strict=True):
        use = observed & ~shadows.member
        mean = np.where(use, value, 0.0).sum(axis=1) / np.maximum(use.sum(axis=1), 1)
        rest.append(np.where(use, value - mean[:, None], 0.0).ravel())
    length = np.linalg.norm(rest, axis=1)
    out = np.array(rest) @ np.array(rest).T / np.outer(np.maximum(length, 1e-100), np.maximum(length, 1e-100))
    np.fill_diagonal(out, 1.0)
    return out


def test_correlations_of_several_sets_are_those_of_residuals():
    shadows = several_signals(0)
    sets = ~np.eye(8, dtype=bool)
    outside_means = []
    for value, observed in zip(shadows.value, shadows.observed, strict=True):
        use = observed & ~shadows.member
        many = np.maximum(sets.astype(float) @ use.T, 1)
        outside_means.append(sets.astype(float) @ np.where(use, value, 0.0).T / many)
    found = correlations(shadows, sets, np.stack(outside_means))
    for t, mine in enumerate(sets):
        np.testing.assert_allclose(found[t], residual_correlation(shadows.models(mine)), atol=1e-9)


def test_signals_that_were_observed_in_other_cells_leave_no_trace_of_the_target():
    attack = registry.build("attack", "offline_joint")
    shadows = several_signals(1)
    sets = ~np.eye(8, dtype=bool)
    values = shadows.value.swapaxes(1, 2)
    scores = attack.scores(values, shadows, sets)
    member = shadows.member.copy()
    member[:, 3] = ~member[:, 3]
    turned = attack.scores(values, Shadows(shadows.value, shadows.observed, member), sets)
    np.testing.assert_array_equal(turned[3], scores[3])
    alone = Target(shadows.value[:, :, 3], shadows.observed[:, :, 3])
    np.testing.assert_allclose(attack.score(alone, shadows.models(sets[3])), scores[3], rtol=1e-9, atol=1e-9)
