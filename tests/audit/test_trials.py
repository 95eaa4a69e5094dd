"""Guesses that nobody needs are judged as they come, with the numbers of guesses that are kept."""

from __future__ import annotations

import numpy as np
import pytest

from jali.audit import trials
from jali.audit.plan import plan
from jali.audit.trials import Trial, guess_by_metric, rows_alone, rows_of
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.guesses import Shadows
from jali.core.values import Channel, Evidence
from tests.conftest import planted


@pytest.mark.parametrize("numbers", [1, 700, 10**6])
def test_rows_are_those_of_kept_guesses_for_any_size_of_groups(monkeypatch, numbers):
    found, game = planted(0.8, n=320, models=6, signals=1)
    gaps = found.observed.copy()
    gaps[0, ::7, 2] = False
    found = Evidence(found.names, found.value, gaps, found.member)
    singles = plan(found, game).singles
    assert len(singles) == 6
    for trial in singles:
        monkeypatch.setattr(trials, "NUMBERS", 10**6)
        kept = rows_of(trial, guess_by_metric(found, game, trial).score, game, np.random.default_rng(0))
        monkeypatch.setattr(trials, "NUMBERS", numbers)
        alone = rows_alone(found, game, trial, None, np.random.default_rng(0))
        assert len(alone) == len(kept)
        for a, b in zip(alone, kept, strict=True):
            assert a.model_dump(exclude={"value", "low", "high"}) == b.model_dump(exclude={"value", "low", "high"})
            assert (a.value is None) == (b.value is None)
            if a.value is not None:
                assert [a.value, a.low, a.high] == pytest.approx([b.value, b.low, b.high], abs=1e-12)


def test_a_score_that_is_not_finite_is_refused(monkeypatch):
    found, game = planted(0.8, n=40, models=4, signals=1)
    trial = Trial(registry.build("attack", "threshold"), found.names, Channel.SCORE)
    monkeypatch.setattr(
        type(trial.attack), "scores", lambda self, value, shadows, sets: np.full(value.shape[1:], np.nan)
    )
    with pytest.raises(JaliError, match="not finite"):
        rows_alone(found, game, trial, None, np.random.default_rng(0))


@pytest.mark.parametrize("gap", [False, True])
def test_a_sample_has_the_records_asked_about_evenly(rng, gap):
    value = rng.normal(size=(2, 10, 4))
    observed = np.ones(value.shape, dtype=bool)
    observed[:, 3, :2] = not gap
    shadows = Shadows(value, observed, rng.random((10, 4)) < 0.5)
    which = np.array([True, True, False, False])
    asked = [0, 1, 2, 4, 5, 6, 7, 8, 9] if gap else list(range(10))
    for most in (100, 5, 3):
        rows = asked[:: -(-len(asked) // most)]
        mine = shadows.sample(which, most)
        assert (mine.value == value[:, rows][:, :, :2]).all()
        assert (mine.observed == observed[:, rows][:, :, :2]).all()
        assert (mine.member == shadows.member[rows][:, :2]).all()
