"""A model that exists is attacked by the strong adversary: shadows with and without every person who is judged."""

from __future__ import annotations

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema
from jali.games.given_model import LEAST, MOST, GivenModel


def data(n: int, groups: np.ndarray | None = None) -> Dataset:
    rng = np.random.default_rng(1)
    return Dataset(rng.normal(size=(n, 2)), rng.integers(0, 2, n), Schema((Column("a"), Column("b"))), groups)


def play(members: int, n: int, shadows: int = 40, groups: np.ndarray | None = None):
    return GivenModel(members, shadows).draw(data(n, groups), np.random.default_rng(2))


@pytest.mark.parametrize(("members", "n"), [(300, 1000), (500, 1000), (700, 1000)])
def test_everybody_given_is_scored_when_the_sides_are_not_too_unequal(members, n):
    game = play(members, n)
    assert game.scored.all()
    assert (game.member.sum(axis=0) == members).all()


@pytest.mark.parametrize(("members", "n", "scored"), [(900, 1000, 333), (100, 2000, 333)])
def test_the_larger_side_is_subsampled_and_shadows_keep_the_size_of_the_target(members, n, scored):
    game = play(members, n)
    assert game.scored.sum() == scored
    share = game.member[game.scored[:, 0], 0].mean()
    assert LEAST - 0.002 <= share <= MOST + 0.002
    assert abs(game.member.sum(axis=0) - members).max() <= 1
    unscored = ~game.scored[:, 0]
    np.testing.assert_array_equal(game.member[unscored, 1:], np.repeat(game.member[unscored, :1], 40, axis=1))
    assert not game.cells()[unscored].any()  # nothing is computed for people who are not judged


@pytest.mark.parametrize(("members", "n"), [(300, 1000), (900, 1000), (100, 2000)])
def test_members_and_others_enter_shadows_equally_often(members, n):
    game = play(members, n, shadows=200)
    rows = game.scored[:, 0]
    often, inside = game.member[rows, 1:].mean(axis=1), game.member[rows, 0]
    spread = often.std() * np.sqrt(1 / inside.sum() + 1 / (~inside).sum())
    assert abs(often[inside].mean() - often[~inside].mean()) < 4 * spread
    assert often.min() > 0.1
    assert often.max() < 0.9


def test_a_person_enters_a_shadow_whole_and_shadows_are_as_large_as_the_target():
    """Members have five rows each and others one: drawing people must not make shadows smaller or larger."""
    groups = np.r_[np.repeat(np.arange(100), 5), 100 + np.arange(400)]
    game = play(500, 900, groups=groups)
    rows = game.member[:500, 1:].reshape(100, 5, -1)
    assert (rows == rows[:, :1]).all()
    assert abs(game.member[:, 1:].sum(axis=0).mean() - 500) < 25


def test_other_rows_of_a_member_are_neither_scored_nor_trained_on():
    groups = np.r_[np.arange(100), np.arange(20), 100 + np.arange(180)]
    game = play(100, 300, groups=groups)
    assert not game.scored[100:120].any()
    assert not game.member[100:120].any()


def test_one_large_group_does_not_empty_a_side():
    groups = np.r_[np.repeat([0, 1], 200), 2 + np.arange(40)]
    game = play(400, 440, groups=groups)
    assert game.member[game.scored[:, 0], 0].any()


def test_too_small_a_population_is_one_sentence():
    with pytest.raises(JaliError, match="4 rows are of people outside the training data; at least 10 are needed"):
        play(96, 100)
    with pytest.raises(JaliError, match="leave no population"):
        play(100, 100)


def test_a_rare_class_is_in_every_shadow_and_never_whole():
    from jali.core.values import Column, Dataset, Schema

    y = np.zeros(400, dtype=np.int64)
    y[[3, 50, 300, 399]] = 1
    data = Dataset(np.arange(400.0)[:, None], y, Schema((Column("x"),)))
    game = GivenModel(members=200, shadows=40).draw(data, np.random.default_rng(0))
    shadows = game.member[:, 1:]
    assert (shadows[y == 1].sum(axis=0) == 2).all()
    assert (shadows.sum(axis=0) == 200).all()
    often = shadows[y == 1].mean(axis=1)
    assert (np.abs(often - 0.5) < 4 * np.sqrt(0.25 / 40)).all()
    usual = Dataset(data.X, np.arange(400) % 2, data.schema)
    again = [GivenModel(members=200, shadows=4).draw(usual, np.random.default_rng(0)).member for _ in range(2)]
    assert (again[0] == again[1]).all()
