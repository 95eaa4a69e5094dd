from __future__ import annotations

import numpy as np
import pytest

from jali.verify.answers import called, vectors
from jali.verify.coding import MOST_COLUMNS, coding
from jali.verify.words import MOST_WORDS, flags, most_written, telling
from tests.verify.returning import failing, returning


def test_plain_vectors_are_their_numbers():
    numbers = np.random.default_rng(0).normal(size=(6, 3))
    given = vectors(numbers)
    np.testing.assert_array_equal(coding(given, np.arange(6) < 3).table(given), numbers)


@pytest.mark.parametrize(
    ("here", "there"),
    [
        (np.nan, 0.0),
        (np.inf, -np.inf),
        (np.inf, np.nan),
        ([0.0], [0.0, 0.0]),
        ([[0.0, 0.0]], [[0.0], [0.0]]),
        (0.0, [0.0]),
        (None, np.nan),
        (None, []),
        ("a", {}),
    ],
)
def test_answers_that_differ_in_any_way_have_different_rows(here, there):
    given = returning(here, here, there, there)
    rows = coding(given, np.arange(4) < 2).table(given)
    assert np.isfinite(rows).all()
    assert (rows[0] == rows[1]).all()
    assert (rows[0] != rows[2]).any()
    assert returning(here, here).differing(returning(here, there)) == 0.5
    assert returning(here).differing(returning(here)) == 0


def test_exceptions_are_known_by_their_words_and_where_those_vary_by_their_class():
    keys = [failing(KeyError(f"{i}")) for i in range(2 * MOST_WORDS)]
    indices = [failing(IndexError(f"{i}")) for i in range(2 * MOST_WORDS)]
    given = called([*keys, *indices])
    first = np.arange(len(given)) < len(keys)
    rows = coding(given, first).table(given)
    assert any((rows[first, j] != rows[~first, j]).all() for j in range(rows.shape[1]))
    same = called([failing(KeyError("a"))] * 2 + [failing(KeyError("b"))] * 2)
    rows = coding(same, np.arange(4) < 2).table(same)
    assert (rows[0] != rows[2]).any()


def test_a_coding_is_fixed_before_the_draws_it_is_used_on():
    known = coding(returning(1.0, np.nan, [2.0, 3.0]), np.array([True, False, False]))
    width = known.table(returning(1.0)).shape[1]
    new = returning([1.0, 2.0, 3.0, 4.0], None, np.inf, "x")
    assert known.table(new).shape == (4, width)
    assert np.isfinite(known.table(new)).all()


def test_of_very_many_numbers_those_that_differ_are_looked_at():
    numbers = np.random.default_rng(0).normal(size=(40, 3 * MOST_COLUMNS))
    first = np.arange(40) < 20
    numbers[:, 777] = first
    given = vectors(numbers)
    rows = coding(given, first).table(given)
    assert rows.shape == (40, MOST_COLUMNS)
    assert (rows == first[:, None]).all(axis=0).any()


def test_numbers_too_large_to_square_stay_finite():
    given = returning(1e300, -1e300)
    assert np.isfinite(np.square(coding(given, np.array([True, False])).table(given))).all()


# --- words and numbers in kinds ------------------------------------------------------------------------------------


def test_a_word_is_seen_beside_an_identifier_that_is_always_new():
    kinds = [f"ticket {i:x}9f {'granted' if i % 2 else 'refused'} at desk" for i in range(40)]
    first = np.arange(40) % 2 == 1
    words = telling(kinds, first)
    assert words[0] in ("granted", "refused", "granted at", "refused at")
    column = flags(kinds, words)[:, 0]
    assert (column == first).all() or (column == ~first).all()


def test_of_words_in_the_same_answers_one_is_enough_and_those_in_all_answers_say_nothing():
    kinds = ["it raised A: no such thing", "it raised B"]
    words = telling(kinds * 5, np.arange(10) < 5)
    assert "it" not in words
    assert len(words) == 2


def test_numbers_in_messages_are_columns():
    given = called([failing(ValueError(f"job {i}: {i % 2} people")) for i in range(20)])
    first = np.arange(20) % 2 == 1
    known = coding(given, first)
    assert known.messages == 2
    assert (known.table(given)[:, [-2, -1]] == np.column_stack([np.arange(20), first])).all()
    assert most_written(["it returned str: job 5"]) == 0
