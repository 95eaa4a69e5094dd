"""Audits before and after protection, in the same game."""

from __future__ import annotations

import pytest

import jali
from jali.core.errors import JaliError
from tests.protect.people import DECLARED, SETTINGS, applicants, trained


def test_explanations_of_one_model_are_attacked_in_one_audit():
    train, _, model = trained(120)
    protected = jali.protect(model, train, "k_groups(k=8)", **SETTINGS)
    found = protected.audit(applicants(100, 5), attack=["threshold"], game="given_model(members=120, shadows=2)")
    assert found.before is found.after
    assert found.unprotected == 'nice(optimise="sparsity")'
    assert found.protected == "k_groups(k=8)"
    assert set(found.to_frame()["when"]) == {"before", "after"}


def test_private_and_own_models_are_audited_in_the_same_game():
    train, _, model = trained(120)
    protected = jali.protect(model, train, "dp_logistic(epsilon=4.0, bound=2.0, C=0.1)", **DECLARED)
    found = protected.audit(applicants(60, 5), attack=["threshold"], game="rotate(models=3)")
    assert (found.before.game.member == found.after.game.member).all()
    assert "epsilon = 4" in str(protected.guarantee)
    assert found.after.results.guarantees


def test_a_loaded_explainer_cannot_be_audited(tmp_path):
    train, _, model = trained(120)
    jali.protect(model, train, "k_groups(k=8)", **SETTINGS).save(tmp_path)
    with pytest.raises(JaliError, match="training rows"):
        jali.Protected.load(tmp_path, model).audit(applicants(20, 5))
