from __future__ import annotations

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.core.guesses import Guesses
from jali.core.values import Column, Dataset, Evidence, Game, Schema, Seen


def test_values_are_frozen_and_leave_the_callers_array_alone():
    X = np.zeros((2, 1))
    data = Dataset(X, [0, 1], Schema((Column("a"),)))
    X[0] = 5
    assert data.X[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        data.X[0] = 1


def test_missing_values_are_refused_with_place_and_name():
    with pytest.raises(JaliError, match=r"'b' .*row 1"):
        Dataset(np.array([[0, 0], [0, np.nan]]), [0, 1], Schema((Column("a"), Column("b"))))


@pytest.mark.parametrize("y", [[0, 2], [-1, 0]])
def test_class_numbers_must_be_named(y):
    with pytest.raises(JaliError, match="class numbers"):
        Dataset(np.zeros((2, 1)), y, Schema((Column("a"),)))


def test_a_schema_needs_unique_names_and_a_known_sensitive_column():
    with pytest.raises(JaliError, match="unique"):
        Schema((Column("a"), Column("a")))
    with pytest.raises(JaliError, match="sensitive"):
        Schema((Column("a"),), sensitive="b")


def test_a_game_checks_its_shapes():
    member = np.zeros((3, 2), bool)
    with pytest.raises(JaliError, match="own shadow"):
        Game(member, [0], np.ones((1, 2), bool), np.ones((3, 1), bool))
    with pytest.raises(JaliError, match=r"scored must have shape \(3, 1\)"):
        Game(member, [0], np.array([[False, True]]), np.ones((2, 1), bool))
    with pytest.raises(JaliError, match="targets must name"):
        Game(member, [2], np.zeros((1, 2), bool), np.ones((3, 1), bool))
    with pytest.raises(JaliError, match="each model once"):
        Game(member, [1, 1], np.array([[True, False]] * 2), np.ones((3, 2), bool))


def test_a_game_says_which_cells_are_asked_about():
    member, shadows, scored = np.zeros((3, 2), bool), np.array([[False, True]]), np.array([[True], [True], [False]])
    assert Game(member, [0], shadows, scored).cells().sum() == 6
    asked = np.array([[True, False], [True, True], [False, False]])
    assert not Game(member, [0], shadows, scored, asked).cells().flags.writeable
    with pytest.raises(JaliError, match=r"asked must have shape \(3, 2\)"):
        Game(member, [0], shadows, scored, asked[:2])
    with pytest.raises(JaliError, match="must also be asked about"):
        Game(member, [1], shadows[:, ::-1], scored, asked)


def test_evidence_clears_what_was_not_observed_and_refuses_what_is_not_finite():
    member = np.zeros((1, 2), bool)
    there = np.array([[[True, False]]])
    evidence = Evidence(("s",), np.array([[[1.0, np.inf]]]), there, member)
    assert evidence.value.tolist() == [[[1.0, 0.0]]]
    with pytest.raises(JaliError, match="'s' holds missing"):
        Evidence(("s",), np.array([[[np.nan, 0.0]]]), there, member)
    with pytest.raises(JaliError, match="observed must have shape"):
        Evidence(("s",), np.zeros((1, 1, 2)), np.ones((1, 1, 3), bool), member)


def test_guesses_must_be_finite():
    with pytest.raises(JaliError, match="not finite"):
        Guesses(np.array([np.nan]), [True], [0], [0])


def test_guesses_of_people_are_picked_with_their_people_and_weights():
    guesses = Guesses([1.0, 2.0, 3.0], [True, False, False], [0, 0, 0], [4, 5, 6], [1, 1, 2], [1.0, 0.5, 2.0])
    assert guesses.grouped
    some = guesses.pick(np.array([2, 0]))
    assert (some.group.tolist(), some.weight.tolist(), some.grouped) == ([2, 1], [2.0, 1.0], False)
    with pytest.raises(JaliError, match="group must have shape"):
        Guesses([1.0], [True], [0], [4], [1, 2])


def test_seen_computes_once_and_shares():
    calls = []
    seen = Seen({"x": lambda: calls.append(1) or 7})
    assert seen.only(frozenset({"x"})).x == 7
    assert seen.x == 7
    assert calls == [1]
