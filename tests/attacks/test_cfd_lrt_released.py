"""The published test against the clean one, on the same models: what the released game adds is the shadows' memory."""

from __future__ import annotations

import numpy as np
import pytest

from jali.audit.all_models import gather
from jali.audit.setup import Experiment, Resources, load
from jali.audit.trials import Trial, guess
from jali.core import registry
from jali.core.guesses import Shadows, Target
from jali.core.values import Channel, SignalName
from jali.stats.roc import auc

DISTANCE = SignalName("counterfactual_distance", "linear_recourse")


def mean_aucs(game: str, *attacks: str) -> list[float]:
    """Rows in thirds of 250, 350 columns: a linear model that interpolates, as 1,400 columns do with 1,000 rows."""
    experiment = Experiment(
        registry.build("data", "linear_gaussian(n=750, d=350)"),
        registry.build("model", "logistic(C=1000.0, iterations=30)"),
        registry.build("game", game),
        (registry.build("explain", "linear_recourse"),),
    )
    setup = load(experiment)
    evidence = gather(setup, Resources()).evidence
    trials = [Trial(registry.build("attack", attack), (DISTANCE,), Channel.EXPLANATION) for attack in attacks]
    found = [guess(evidence, setup.game, trial) for trial in trials]
    return [float(np.mean([auc(g.score[g.unit == u], g.truth[g.unit == u]) for u in np.unique(g.unit)])) for g in found]


@pytest.mark.slow
def test_the_published_advantage_over_the_plain_distance_is_the_leak():
    plain, clean = mean_aucs("thirds(targets=3)", "threshold", "offline_lrt")
    [leaky] = mean_aucs("pawelczyk_released(targets=3)", "cfd_lrt_released")
    assert plain > 0.65
    assert leaky > plain + 0.08
    assert clean < plain + 0.02


def test_global_and_local_variance_by_hand():
    value = np.array([[[0.0, 2.0], [0.0, 4.0]]])
    shadows = Shadows(value, np.ones((1, 2, 2), bool), np.zeros((2, 2), bool))
    target = Target(np.array([[2.0, 2.0]]), np.ones((1, 2), bool))
    # Means 1 and 2, population variances 1 and 4: Z = 1/sqrt(2.5) and 0; Student-t with one degree is Cauchy.
    expected = np.log([0.5 + np.arctan(1 / np.sqrt(2.5)) / np.pi, 0.5])
    got = registry.build("attack", "cfd_lrt_released").score(target, shadows)
    np.testing.assert_allclose(got, expected, rtol=1e-9)
    local = registry.build("attack", 'cfd_lrt_released(variance="local")').score(target, shadows)
    np.testing.assert_allclose(local, np.log([0.5 + np.arctan(1 / np.sqrt(2.00001)) / np.pi, 0.5]), rtol=1e-9)
