"""Whose rows are whose goes with the evidence, and models of one training set do not tell on each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jali.api import attack_file
from jali.audit import evidence
from jali.core.errors import JaliError
from jali.core.values import Game
from tests.conftest import planted


def people_of_five(path):
    found, game = planted(0.6, n=500, models=6)
    person = np.repeat(np.arange(100), 5)
    member = game.member[person * 5]
    value = found.value + np.random.default_rng(3).normal(size=(1, 100, 6))[:, person]
    game = Game(member, game.targets, game.shadows, game.scored)
    found = replace(found, value=value, member=member)
    evidence.write(path / "rows.npz", found, game)
    evidence.write(path / "people.npz", found, replace(game, person=person))
    return found, person


def too_few(path) -> str:
    rows = attack_file(path).results.rows
    return next(r.reason for r in rows if r.metric == "tpr@0.01" and r.kind == "attack")


def test_evidence_says_whose_rows_it_holds_and_rates_count_people(tmp_path):
    _, person = people_of_five(tmp_path)
    _, game, _ = evidence.read(tmp_path / "people.npz")
    np.testing.assert_array_equal(game.person, person)
    assert "299 people who are non-members" in too_few(tmp_path / "people.npz")
    assert "299 non-members" in too_few(tmp_path / "rows.npz")


def test_plain_arrays_may_say_so_too(tmp_path):
    rng = np.random.default_rng(0)
    member = rng.random((60, 5)) < 0.5
    np.savez(tmp_path / "e.npz", member=member, score=rng.normal(size=(60, 5)), person=np.arange(60) // 2)
    _, game, _ = evidence.read(tmp_path / "e.npz")
    np.testing.assert_array_equal(game.person, np.arange(60) // 2)
    np.savez(tmp_path / "f.npz", member=member, score=rng.normal(size=(60, 5)), person=np.arange(59))
    with pytest.raises(JaliError, match="person"):
        evidence.read(tmp_path / "f.npz")


def test_models_of_one_training_set_are_not_each_others_shadows(tmp_path):
    """Two seeds for each training set share noise that has nothing to do with membership: nothing leaks."""
    rng = np.random.default_rng(0)
    once = rng.random((800, 6)) < 0.5
    shared = np.repeat(rng.normal(size=(800, 6)), 2, axis=1)
    score = shared + 0.3 * rng.normal(size=(800, 12))
    np.savez(tmp_path / "e.npz", member=np.repeat(once, 2, axis=1), score=score)
    _, game, _ = evidence.read(tmp_path / "e.npz")
    assert game.shadows.sum(axis=1).tolist() == [10] * 12
    assert not game.shadows[0, :2].any()
    rows = attack_file(tmp_path / "e.npz").results.rows
    found = [r for r in rows if r.kind == "attack" and r.metric == "auc" and r.low is not None]
    assert found
    assert all(r.low < 0.53 and r.high > 0.47 for r in found)
