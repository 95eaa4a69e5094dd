"""Large audits: said before anything is trained, and refused where they cannot fit."""

from __future__ import annotations

import numpy as np
import pytest

from jali.api.running import armed, run_setup
from jali.audit import large
from jali.audit.large import LargeAudit, notice
from jali.audit.one_for_all import explains_each_model
from jali.audit.setup import Experiment, Resources
from jali.audit.training_fit import fits_otherwise
from jali.config import Config
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.values import Evidence, Game, SignalName


def test_a_usual_audit_says_nothing_and_a_large_one_what_to_do():
    assert notice(6_000, 32, [3, 8], 8e9) == ""
    assert "sample(table(" in notice(300_000, 32, [3, 8], 64e9)


def test_what_cannot_fit_is_refused():
    with pytest.raises(JaliError, match=r"1,000,000 records each, which needs about 40 GB of memory, and this machine"):
        notice(1_000_000, 32, [3, 8], 16e9)


def test_it_is_said_before_models_are_trained(monkeypatch):
    parts = [
        registry.build(*p)
        for p in (("data", "linear_gaussian(n=40, d=2)"), ("model", "logistic"), ("game", "rotate(models=2)"))
    ]
    setup = armed(Experiment(*parts), ["threshold"], "")
    monkeypatch.setattr(large, "MANY", 10)
    trained = []
    monkeypatch.setattr("jali.api.running.run", lambda *_: trained.append(1))
    with pytest.raises(LargeAudit, match="may take hours"):
        run_setup(setup, Resources(), Config(), show_values=False, named=True)
    assert not trained


def game(member):
    shadows = np.array([[False, True, True]])
    return Game(member, np.array([0]), shadows, np.ones((len(member), 1), dtype=bool))


def evidence(member, value, *names):
    return Evidence(names, value, np.ones(value.shape, dtype=bool), member)


def test_answers_that_are_the_same_for_all_models_fail_the_check():
    rng = np.random.default_rng(0)
    member = rng.random((60, 3)) < 0.5
    name = SignalName("attribution_l1", "mine")
    one = np.repeat(rng.normal(size=(1, 60, 1)), 3, axis=2)
    [check] = explains_each_model(evidence(member, one, name), game(member), ["mine"])
    assert not check.passed
    assert "use the argument" in check.detail
    other = one + 1e-6 * rng.normal(size=one.shape)
    assert explains_each_model(evidence(member, other, name), game(member), ["mine"]) == []
    assert explains_each_model(evidence(member, one, name), game(member), []) == []


def test_a_target_that_fits_worse_than_its_shadow_models_is_noticed():
    member = np.ones((60, 3), dtype=bool)
    right = np.ones((1, 60, 3))
    name = SignalName("correctness")
    assert fits_otherwise(evidence(member, right, name), game(member)) == []
    right[0, :30, 0] = 0
    [text] = fits_otherwise(evidence(member, right, name), game(member))
    assert "right for 50 % of its training rows" in text
    assert "for 100 % or more of theirs" in text
