"""Columns of an explanation that are missing in different places: none of them hides what the others show."""

from __future__ import annotations

import numpy as np
import pytest

from jali.attacks.joint import Joint
from jali.audit.gaps import Filled, copies, filled, original
from jali.audit.plan import explainers, plan, with_gaps
from jali.audit.signal_attacks import attack_evidence
from jali.audit.trials import Trial, contrast_rows, guess_by_metric
from jali.core import registry
from jali.core.values import LARGEST, Channel, Evidence, Game, SignalName, Unit
from jali.report.audit.html import render
from jali.results import Results, Row

SCORE = SignalName("confidence")
RECORDS, MODELS = 1_000, 10
CHANNEL = Channel.SCORE_AND_EXPLANATION


def drawn(seed: int, records: int = RECORDS) -> tuple[np.random.Generator, np.ndarray, np.ndarray, np.ndarray]:
    """Numbers, membership, a score, and an answer that is shifted for members by 1 with a sign of the record's own."""
    rng = np.random.default_rng(seed)
    member = rng.random((records, MODELS)) < 0.5
    score = 0.75 * member + rng.normal(size=member.shape)
    signed = rng.choice([-1.0, 1.0], (records, 1)) * member + rng.normal(size=member.shape)
    return rng, member, score, signed + rng.normal(0, 2, (records, 1))


def made(member: np.ndarray, score: np.ndarray, *columns: tuple[np.ndarray, np.ndarray]) -> tuple[Evidence, Game]:
    """A score and columns of an explanation, each with the cells in which it is there."""
    names = (SCORE, *(SignalName(f"column {k}", "e") for k in range(1, len(columns) + 1)))
    value = np.stack([score, *(column for column, _ in columns)])
    observed = np.stack([np.ones_like(member), *(there for _, there in columns)])
    shadows = ~np.eye(MODELS, dtype=bool)
    game = Game(member, np.arange(MODELS), shadows, np.ones_like(member))
    return Evidence(names, np.where(observed, value, 0.0), observed, member), game


def added(evidence: Evidence, game: Game) -> Row:
    """What the explanation adds to the score in AUC."""
    full = with_gaps(evidence, game)
    trial = plan(full, game).combined["e", CHANNEL]
    found = guess_by_metric(full, game, trial, metrics=("auc",))
    (row,) = contrast_rows(trial, found, game, np.random.default_rng(0))
    return row


@pytest.mark.parametrize("levels", [0.0, 3.0], ids=["one level", "levels of models"])
def test_a_useless_column_that_is_often_missing_hides_nothing(levels):
    """Next to nothing was found of what the first column adds: only cells with both were read, 15 % of all."""
    rng, member, score, answer = drawn(0)
    everywhere = np.ones_like(member)
    noise = rng.normal(size=member.shape) + levels * rng.normal(size=(1, MODELS))
    alone = added(*made(member, score, (answer, everywhere)))
    both = added(*made(member, score, (answer, everywhere), (noise, rng.random(member.shape) < 0.15)))
    assert alone.value > 0.06
    assert both.value == pytest.approx(alone.value, rel=0.2)
    assert both.coverage == 1.0


@pytest.mark.parametrize("levels", [0.0, 3.0], ids=["one level", "levels of models"])
def test_columns_that_are_never_there_together_are_attacked(levels):
    """No cell has both; the first one leaks where it is there, and there it adds twice as much as over everybody."""
    rng, member, score, _ = drawn(1)
    first = rng.random(member.shape) < 0.5
    shift = levels * rng.normal(size=(1, MODELS))
    leaking = member + rng.normal(size=member.shape) + rng.normal(0, 2, (RECORDS, 1)) + shift
    noise = rng.normal(size=member.shape) + shift
    alone = added(*made(member, score, (leaking, first)))
    both = added(*made(member, score, (leaking, first), (noise, ~first)))
    assert alone.coverage == pytest.approx(0.5, abs=0.02)
    assert both.coverage == 1.0
    assert both.low > 0.35 * alone.value


def test_people_with_any_column_are_judged_and_others_are_not():
    rng, member, score, answer = drawn(2, 300)
    first, second = rng.random((2, *member.shape)) < 0.4
    row = added(*made(member, score, (answer, first), (rng.normal(size=member.shape), second)))
    assert row.coverage == (first | second).mean()


def test_columns_that_are_missing_by_chance_add_nothing():
    holds = []
    for seed in range(20):
        rng, member, score, _ = drawn(seed, 300)
        noise = rng.normal(size=(2, *member.shape)) + rng.normal(0, 2, (2, 300, 1))
        first, second = rng.random((2, *member.shape)) < np.array([0.6, 0.3])[:, None, None]
        row = added(*made(member, score, (noise[0], first), (noise[1], second)))
        holds.append(row.low <= 0 <= row.high)
        assert abs(row.value) < 0.01
    assert np.mean(holds) >= 0.9


def test_a_gap_is_the_mean_of_the_other_answers_about_the_record():
    value = np.array([[1.0, 0.0, 3.0], [0.0, 8.0, 0.0], [0.0, 0.0, 0.0]])
    there = np.array([[True, False, True], [False, True, False], [False, False, False]])
    somewhere = np.array([[True, True, True], [True, True, False], [False, True, True]])
    usual = (1 + 3 + 8) / 3
    expected = [[1.0, 2.0, 3.0], [8.0, 8.0, 0.0], [0.0, usual, usual]]
    np.testing.assert_allclose(filled(value, there, somewhere), expected, rtol=1e-15)


def test_the_largest_values_are_filled_too():
    there = np.ones((30, 4), dtype=bool)
    there[:10, 0] = False
    made_up = filled(np.where(there, LARGEST * np.array([-1.0, -1.0, 1.0, 1.0]), 0.0), there, np.ones_like(there))
    assert np.abs(made_up).max() <= LARGEST
    assert not filled(np.zeros((30, 4)), np.zeros_like(there), np.ones_like(there)).any()


def test_no_membership_is_read():
    rng, member, score, answer = drawn(3, 50)
    there = rng.random(member.shape) < 0.5
    full = [with_gaps(*made(m, score, (answer, there), (score, ~there))) for m in (member, ~member)]
    np.testing.assert_array_equal(full[0].value, full[1].value)


def test_equal_gaps_are_left_as_they_are():
    rng, member, score, answer = drawn(4, 100)
    there = rng.random(member.shape) < 0.5
    evidence, game = made(member, score, (answer, there), (2 * answer, there))
    full = with_gaps(evidence, game)
    assert full.names == (*evidence.names, SignalName("answered", "e"))
    np.testing.assert_array_equal(full.value[:-1], evidence.value)
    assert plan(full, game).combined["e", CHANNEL].names == evidence.names
    whole, same = made(member, score, (answer, np.ones_like(there)), (2 * answer, np.ones_like(there)))
    assert with_gaps(whole, same) is whole


def test_only_signals_with_gaps_beside_others_are_copied():
    rng, member, score, answer = drawn(5, 100)
    some = rng.random(member.shape) < 0.5
    fewer = some & (rng.random(member.shape) < 0.5)
    evidence, _ = made(member, score, (answer, some), (answer, fewer))
    (name,) = copies(evidence, explainers(evidence).values())
    assert name == Filled("column 2, gaps filled", "e")
    # Another explainer has its own gaps, and they are nobody else's.
    apart = Evidence(
        (SCORE, SignalName("size", "a"), SignalName("size", "b")), evidence.value, evidence.observed, member
    )
    assert not copies(apart, explainers(apart).values())


def test_copies_are_read_together_and_never_alone():
    rng, member, score, answer = drawn(6, 100)
    there = rng.random(member.shape) < 0.5
    evidence, game = made(member, score, (answer, there), (answer > 0, ~there))
    evidence = Evidence(
        evidence.names, evidence.value, evidence.observed, member, (Unit.PLAIN, Unit.PLAIN, Unit.YES_NO)
    )
    full = with_gaps(evidence, game)
    todo = plan(full, game)
    assert not any(isinstance(name, Filled) for trial in todo.singles for name in trial.names)
    assert not any(isinstance(name, Filled) for trial in todo.availability for name in trial.names)
    trial = todo.combined["e", CHANNEL]
    assert trial.names == (SCORE, *(Filled.of(name) for name in evidence.names[1:]))
    assert trial.row("auc").signal == "confidence + column 1 + column 2"
    assert full.units[full.names.index(trial.names[-1])] is Unit.PLAIN
    assert explainers(full) == {"e": evidence.names[1:]}


def test_a_signal_of_a_user_may_have_any_name():
    rng, member, score, answer = drawn(7, 100)
    there = rng.random(member.shape) < 0.5
    evidence, game = made(member, score, (answer, there), (answer, np.ones_like(there)))
    mine = (SCORE, SignalName("size", "e"), SignalName("size, gaps filled", "e"))
    full = with_gaps(Evidence(mine, evidence.value, evidence.observed, member), game)
    assert plan(full, game).combined["e", CHANNEL].names == (SCORE, Filled.of(mine[1]), mine[2])
    assert [original(name) for name in full.names if isinstance(name, Filled)] == [mine[1]]


def test_the_report_names_the_columns_and_not_their_copies():
    rng, member, score, answer = drawn(8, 300)
    there = rng.random(member.shape) < 0.4
    evidence, game = made(member, score, (answer, there), (rng.normal(size=member.shape), ~there))
    found = attack_evidence(evidence, game, [registry.build("attack", "threshold")])
    results = Results(rows=found.rows, sanity=found.checks, controls=found.controls)
    assert "gaps filled" not in render(results) + results.model_dump_json()
    (row,) = results.find(kind="contrast", metric="auc", against=Channel.SCORE)
    assert row.coverage == 1.0
    (control,) = [c for c in found.controls if c.against is Channel.SCORE]
    assert not control.reason


def test_without_copies_the_numbers_are_those_of_the_signals_themselves():
    rng, member, score, answer = drawn(9, 300)
    there = rng.random(member.shape) < 0.6
    evidence, game = made(member, score, (answer, there), (rng.normal(size=member.shape), there))
    trial = Trial(Joint(), evidence.names, CHANNEL, "e", Channel.SCORE, 1)
    found = guess_by_metric(evidence, game, trial, metrics=("auc",))
    (row,) = contrast_rows(trial, found, game, np.random.default_rng(0))
    assert row == added(evidence, game)
