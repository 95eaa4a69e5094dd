"""Rows of other people that are the training people."""

from __future__ import annotations

import numpy as np

from jali.core.values import Column, Dataset, Schema
from jali.data.tables.copies import copies
from jali.games.given_model import GivenModel

TRAIN = np.arange(1000) < 500


def table(shared: int, levels: int = 0) -> Dataset:
    """500 training rows and 500 others, some of them copies; with levels, two columns of so many values."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 2)) if not levels else rng.integers(0, levels, (1000, 2)).astype(float)
    X[500 : 500 + shared] = X[:shared]
    y = rng.integers(0, 2, 1000)
    y[500 : 500 + shared] = y[:shared]
    return Dataset(X, y, Schema((Column("a"), Column("b"))))


def test_a_few_training_rows_among_the_others_are_found():
    found = copies(table(20), TRAIN, ~TRAIN)
    assert found.count == 20
    assert not found.too_many
    np.testing.assert_array_equal(np.flatnonzero(found.same_people), 500 + np.arange(20))


def test_many_make_it_a_wrong_table():
    assert copies(table(30), TRAIN, ~TRAIN).too_many


def test_people_who_are_alike_by_chance_stay():
    found = copies(table(0, levels=12), TRAIN, ~TRAIN)
    assert found.count > 250
    assert not found.too_many
    assert not found.same_people.any()


def test_copies_are_neither_members_nor_others_in_the_game():
    """They scored as members do: with 4 % of them the threshold for 1 % false positives lay among the members."""
    game = GivenModel(500, shadows=4).draw(table(20), np.random.default_rng(0))
    assert not game.scored[500:520].any()
    assert not game.member[500:520].any()
    assert game.scored.sum() == 980
