"""Tests share the error of one; a pilot fixes the number of draws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.models.logistic import Logistic
from jali.verify import run as engine
from jali.verify.answers import vectors
from jali.verify.distinguishers import LEVEL, RARE, learn
from jali.verify.neighbours import adverse
from jali.verify.pilot import LARGE, SMALL, draws_within, fitting
from jali.verify.portfolio import Trial, most_shown, shared
from jali.verify.run import verify
from jali.verify.zoo import exhibits
from jali.verify.zoo.scoreboard import subject_of

T = 1000


def trials(shift, rare_from=0.0):
    """Trials learnt from normal answers, of which those of one data set are shifted or, now and then, replaced."""
    rng = np.random.default_rng(0)
    here = shift + rng.normal(size=(T, 1))
    here[rng.random(T) < rare_from] = 50.0
    learnt = learn(vectors(np.concatenate([here, rng.normal(size=(T, 1))])), np.arange(2 * T) < T, 0.0, rng)
    pair = adverse(Logistic())
    rare = Trial(pair, learnt.pop(RARE), 1.0, 0.0, rare=True)
    return [Trial(pair, rule, 1.0, 0.0) for rule in learnt.values()], [rare]


def test_all_tests_together_have_the_error_of_one():
    found = shared(*trials(1.0))
    assert sum(each.error for each in found) == pytest.approx(1 - LEVEL)
    assert found[0].error == pytest.approx((1 - LEVEL) / 2)
    assert found[1].rare
    assert found[1].error == pytest.approx((1 - LEVEL) / 4)


def test_rare_answers_lead_where_nothing_else_differs():
    ordinary, rare = trials(0.0, rare_from=0.02)
    assert rare[0].promise[0] > 0
    unseen = [replace(each, rule=replace(each.rule, held_out=(0.0, 0.5))) for each in ordinary]
    assert shared(unseen, rare)[0].rare
    assert not shared(trials(1.0)[0], rare)[0].rare


def test_the_ceiling_is_that_of_the_leading_test():
    assert most_shown(2000, 0.0) == pytest.approx(6.29, abs=0.01)
    assert most_shown(2000, 0.1) < 6.29


# --- the pilot -----------------------------------------------------------------------------------------------------


def test_a_pilot_tells_fixed_time_from_the_time_of_a_draw():
    each, fixed = 0.01, 5.0
    took = [fixed + each * count for count in (SMALL, LARGE)]
    assert fitting(60.0, sum(took), *took) == int((60 - sum(took) - fixed) / each / 100) * 100
    assert fitting(1.0, 0.0, *took) == 100


def test_a_time_that_is_none_is_refused():
    with pytest.raises(JaliError, match="--minutes must be positive"):
        draws_within(lambda count: None, 0.0)


def test_the_number_of_draws_is_fixed_before_any_draw_is_evaluated_and_recorded(monkeypatch):
    seen = []
    real = engine._searched
    monkeypatch.setattr(engine, "_searched", lambda *args: seen.append(args[2:]) or real(*args))
    monkeypatch.setattr(engine, "draws_within", lambda run, minutes: run(150) and 300)
    exhibit = next(each for each in exhibits() if each.name == "randomised response")
    found = verify(subject_of(exhibit), adverse(Logistic()), minutes=2.0)
    assert (found.draws, found.minutes) == (300, 2.0)
    assert seen == [(150, 0, engine.PILOT), (300, 0, engine.MAIN)]
