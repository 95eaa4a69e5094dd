"""RMIA's ratio of probabilities, on whatever scale a file has them."""

from __future__ import annotations

import numpy as np
import pytest

from jali.attacks.ratio import Ratio
from jali.audit.evidence import read
from jali.core.guesses import Shadows, Target
from jali.core.values import Unit

P = np.random.default_rng(0).uniform(0.02, 0.98, (6, 5))  # of the label, by the target and four references
SCALES = {
    Unit.LOG_ODDS: np.log(P / (1 - P)),
    Unit.LOG_PROBABILITY: np.log(P),
    Unit.PROBABILITY: P,
}


def score(value, unit, lift=1.0):
    shadows = Shadows(value[None, :, 1:], np.ones((1, 6, 4), bool), np.zeros((6, 4), bool), (unit,))
    return Ratio(lift).score(Target(value[None, :, 0], np.ones((1, 6), bool)), shadows)


@pytest.mark.parametrize("unit", SCALES)
@pytest.mark.parametrize("lift", [1.0, 0.3])
def test_it_is_the_published_ratio_on_every_scale_of_a_probability(unit, lift):
    mean = P[:, 1:].mean(axis=1)
    published = P[:, 0] / (mean if lift == 1 else ((1 + lift) * mean + (1 - lift)) / 2)
    np.testing.assert_allclose(np.exp(score(SCALES[unit], unit, lift)), published)


def test_losses_of_an_evidence_file_are_read_as_probabilities(tmp_path):
    """They are stored as log-odds, whose exponential is odds: a ratio of odds is another attack."""
    member = np.random.default_rng(1).random((6, 5)) < 0.5
    member[0], member[1] = True, False
    np.savez(tmp_path / "evidence.npz", member=member, loss=-np.log(P))
    evidence = read(tmp_path / "evidence.npz")[0]
    (unit,) = evidence.units
    assert unit is Unit.LOG_ODDS
    np.testing.assert_allclose(np.exp(score(evidence.value[0], unit)), P[:, 0] / P[:, 1:].mean(axis=1))


def test_other_signals_are_exponentials():
    t = np.random.default_rng(2).normal(size=(6, 5))
    np.testing.assert_allclose(np.exp(score(t, Unit.LOG)), np.exp(t[:, 0]) / np.exp(t[:, 1:]).mean(axis=1))
