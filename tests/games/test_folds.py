from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.data.linear_gaussian import LinearGaussian
from jali.games.folds import Folds


def draw(**fields):
    return Folds(**fields).draw(LinearGaussian(n=300, d=3).load(), np.random.default_rng(0))


def test_every_training_record_is_outside_once_in_each_repeat():
    game = draw(k=3, repeats=2, shadows=4)
    owned = game.scored[:, 0]
    assert owned.sum() == 210
    np.testing.assert_array_equal((~game.member[owned, :3]).sum(axis=1), 1)
    np.testing.assert_array_equal((~game.member[owned, 3:6]).sum(axis=1), 1)
    assert (game.member[:, :3] != game.member[:, 3:6]).any()
    assert not game.member[~owned, :6].any()


def test_shadows_know_the_adversarys_rows_only_and_are_nobodys_target():
    game = draw(k=2, shadows=5)
    assert not game.member[game.scored[:, 0]][:, 2:].any()
    np.testing.assert_array_equal(game.shadows, [[False] * 2 + [True] * 5] * 2)


def test_attacks_that_ask_need_no_shadows():
    game = draw(shadows=0)
    assert game.member.shape == (300, 3)
    assert not game.shadows.any()


def test_at_most_so_many_are_scored_and_the_same_for_all_targets():
    game = draw(k=2, repeats=3, shadows=0, most=80)
    assert (game.scored.sum(axis=0) == 80).all()
    assert (game.scored == game.scored[:, :1]).all()
    assert game.member[:, :2].sum() == 210


def test_a_group_is_scored_whole_or_not_at_all():
    data = replace(LinearGaussian(n=300, d=3).load(), groups=np.arange(300) // 4)
    game = Folds(shadows=0, most=90).draw(data, np.random.default_rng(0))
    asked = game.scored[:, 0].reshape(-1, 4)
    assert (asked == asked[:, :1]).all()
    assert asked.sum() == 88


@pytest.mark.parametrize(("fields", "says"), [({"k": 1}, "k"), ({"repeats": 0}, "repeats"), ({"most": -1}, "most")])
def test_impossible_folds_are_refused(fields, says):
    with pytest.raises(JaliError, match=says):
        Folds(**fields)
