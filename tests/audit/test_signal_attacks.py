"""From evidence to rows, curves, checks and exposed people."""

from __future__ import annotations

import numpy as np
import pytest

from jali.api import attack_file
from jali.audit.plan import plan
from jali.audit.signal_attacks import Attacked, attack_evidence, leading
from jali.audit.trials import ByMetric, guess
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.guesses import Guesses
from jali.core.values import Channel, Column, Dataset, Evidence, Game, Schema, SignalName
from tests.conftest import planted

SCORE, SIZE = SignalName("confidence"), SignalName("size", "e")
LIRA = (registry.build("attack", "lira"),)


def evidence(shift: float = 1.0) -> tuple[Evidence, Game]:
    found, game = planted(shift, n=300, models=8, signals=2)
    return Evidence((SCORE, SIZE), found.value, found.observed, found.member), game


@pytest.fixture(scope="module")
def attacked() -> Attacked:
    return attack_evidence(*evidence(), LIRA)


def test_every_signal_and_every_combination_has_rows(attacked):
    singles = {(r.channel, r.signal) for r in attacked.rows if r.kind == "attack" and not r.combined}
    assert singles == {(Channel.SCORE, "confidence"), (Channel.EXPLANATION, "size")}
    combined = {(r.explainer, r.channel) for r in attacked.rows if r.kind == "attack" and r.combined}
    assert combined == {("", Channel.SCORE), ("e", Channel.EXPLANATION), ("e", Channel.SCORE_AND_EXPLANATION)}
    assert {r.learns for r in attacked.rows} == {"membership"}


def test_a_difference_stands_beside_both_of_its_sides(attacked):
    (added,) = [r for r in attacked.rows if r.kind == "contrast" and r.metric == "auc"]
    sides = {r.channel: r.value for r in attacked.rows if r.kind == "paired" and r.metric == "auc"}
    assert added.against == Channel.SCORE
    assert added.value == pytest.approx(sides[Channel.SCORE_AND_EXPLANATION] - sides[Channel.SCORE])


def test_curves_checks_and_exposed_people_come_with_it(attacked):
    assert {(c.explainer, c.label) for c in attacked.curves} == {
        ("", "score"),
        ("e", "explanation"),
        ("e", "score + explanation"),
    }
    assert [c.name for c in attacked.checks] == ["null target", "orientation"]
    assert attacked.exposed
    assert all(0 < e.recognised <= e.member_of for e in attacked.exposed)


def _guessed(score: np.ndarray) -> ByMetric:
    rows = np.arange(len(score))
    return ByMetric({"auc": Guesses(score, rows % 2 == 0, 0 * rows, rows)}, {}, {}, {})


def test_the_combination_that_stands_for_exposure_is_chosen_by_size_and_never_by_success():
    found, game = evidence()
    todo = plan(found, game, LIRA)
    kept = {place: _guessed(np.zeros(4)) for place in todo.combined}
    assert leading(todo, kept) == ("e", Channel.SCORE_AND_EXPLANATION)
    kept["", Channel.SCORE] = _guessed(np.ones(5))
    assert leading(todo, kept) == ("", Channel.SCORE)


def test_rows_of_one_person_count_together_where_the_data_are_known():
    """Three equal rows a person, one target: wider intervals around the same values; 250 people are too few for 1 %."""
    found, game = planted(0.5, n=1500, models=4, signals=1)
    person = np.arange(1500) // 3
    found = Evidence(
        (SCORE,), found.value[:, ::3].repeat(3, axis=1), found.observed, found.member[::3].repeat(3, axis=0)
    )
    game = Game(found.member, [0], game.shadows[:1], game.scored[:, :1])
    X = np.arange(1500.0)[:, None]
    alone, together = (
        {
            r.metric: r
            for r in attack_evidence(found, game, LIRA, data=Dataset(X, 0 * person, Schema((Column("x"),)), g)).rows
        }
        for g in (None, person)
    )
    assert together["auc"].value == alone["auc"].value
    assert together["auc"].high - together["auc"].low > 1.3 * (alone["auc"].high - alone["auc"].low)
    assert alone["tpr@0.01"].value is not None
    assert "299 people who are non-members" in together["tpr@0.01"].reason


def test_guesses_know_whose_record_they_are_about():
    found, game = evidence()
    trial = plan(found, game, LIRA).singles[0]
    person = np.arange(300) // 2
    guesses = guess(found, game, trial, person=person)
    np.testing.assert_array_equal(guesses.group, guesses.record // 2)
    np.testing.assert_array_equal(guess(found, game, trial).group, guesses.record)


def test_groups_of_people_are_judged_where_the_data_are_known():
    found, game = evidence()
    sex = np.arange(300) % 2
    schema = Schema((Column("sex", "category", categories=("f", "m")), Column("x")), sensitive="sex")
    data = Dataset(np.stack([sex, np.arange(300)], axis=1), sex, schema)
    rows = attack_evidence(found, game, LIRA, data=data).rows
    groups = {r.group for r in rows if r.group.startswith("sex ")}
    assert len(groups) == 2
    assert not [r for r in attack_evidence(found, game, LIRA).rows if r.group]


def test_an_attack_that_cannot_judge_leaves_its_reason_and_no_combination_is_an_error():
    found, game = evidence()
    there = found.observed.copy()
    there[1, :, 1:] = False  # no shadow shows the explanation
    rows = attack_evidence(Evidence(found.names, found.value, there, found.member), game, LIRA).rows
    silent = [r for r in rows if r.signal == "size" and r.kind == "attack" and not r.combined]
    assert all(r.value is None and r.reason for r in silent)
    nothing = Evidence((SCORE,), found.value[:1], np.zeros_like(there[:1]), found.member)
    with pytest.raises(JaliError, match="No combined attack could be run"):
        attack_evidence(nothing, game, LIRA)


@pytest.mark.parametrize("answered", [True, False])
def test_an_explanation_that_only_one_side_gets_is_no_error(answered):
    """No curve can be drawn of such guesses, and whether there is an answer says it all."""
    found, game = evidence()
    there = found.observed.copy()
    there[1] = found.member == answered
    attacked = attack_evidence(Evidence(found.names, found.value * there, there, found.member), game)
    assert ("e", "score + explanation") not in {(c.explainer, c.label) for c in attacked.curves}
    [given] = [r for r in attacked.rows if (r.kind, r.metric, r.against) == ("availability", "auc", Channel.SCORE)]
    assert given.low > 0.1


def test_a_file_has_a_positive_control(tmp_path):
    found, game = evidence()
    arrays = {"member": game.member, "confidence": found.value[0], "size": found.value[1]}
    np.savez(tmp_path / "e.npz", **arrays)
    results = attack_file(tmp_path / "e.npz", ["lira"]).results
    assert [(c.explainer, c.against) for c in results.controls] == [("explanation", Channel.SCORE)]
    assert results.controls[0].sizes
