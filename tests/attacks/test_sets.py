"""Several targets at once are scored as one by one, and without a trace of the model that is attacked."""

import numpy as np
import pytest

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
    together = attack.scores(shadows.value[0].T, shadows, sets)
    for t, mine in enumerate(sets):
        target = Target(shadows.value[:, :, t], shadows.observed[:, :, t])
        np.testing.assert_allclose(together[t], attack.score(target, shadows.models(mine)), rtol=1e-9, atol=1e-9)


@ATTACKS
def test_whether_the_target_trained_on_a_record_leaves_no_trace(text):
    attack = registry.build("attack", text)
    shadows, sets = drawn(1)
    scores = attack.scores(shadows.value[0].T, shadows, sets)
    for t in range(len(sets)):
        member = shadows.member.copy()
        member[:, t] = ~member[:, t]
        turned = Shadows(shadows.value, shadows.observed, member, shadows.units)
        np.testing.assert_array_equal(attack.scores(shadows.value[0].T, turned, sets)[t], scores[t])


def test_a_target_far_above_its_shadow_models_keeps_their_ratio():
    value = np.array([[[900.0, 1.0, 2.0]]])
    shadows = Shadows(value, np.ones((1, 1, 3), bool), np.zeros((1, 3), bool), (Unit.PLAIN,))
    score = registry.build("attack", "ratio").scores(value[0].T, shadows, ~np.eye(3, dtype=bool))
    assert score[0, 0] == pytest.approx(900 - np.log((np.e + np.e**2) / 2))
