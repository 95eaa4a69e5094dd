"""Three folds per target, and how many records of each are asked about."""

from __future__ import annotations

import numpy as np
import pytest

from jali.core import registry
from jali.data.linear_gaussian import LinearGaussian


def draw(text: str):
    return registry.build("game", text).draw(LinearGaussian(n=300, d=2).load(), np.random.default_rng(3))


@pytest.mark.parametrize("name", ["thirds", "pawelczyk_released"])
def test_asking_fewer_changes_no_training_set(name):
    whole, few = draw(f"{name}(targets=3, shadows=2)"), draw(f"{name}(targets=3, shadows=2, most=20)")
    assert whole.asked is None
    assert whole.scored.sum(axis=0).tolist() == [200] * 3
    for same in ("member", "targets", "shadows"):
        np.testing.assert_array_equal(getattr(whole, same), getattr(few, same))
    assert not (few.scored & ~whole.scored).any()
    for t in range(3):
        truth = few.member[few.scored[:, t], t]
        assert (truth.sum(), (~truth).sum()) == (20, 20)


@pytest.mark.parametrize(("name", "own"), [("thirds", 20), ("pawelczyk_released", 0)])
def test_a_target_and_its_shadows_are_asked_about_the_scored_and_some_of_the_adversarys_own(name, own):
    game = draw(f"{name}(targets=3, shadows=2, most=20)")
    for t in range(3):
        mine = game.asked[:, t]
        np.testing.assert_array_equal(game.asked[:, game.shadows[t]], np.stack([mine, mine], axis=1))
        rest = mine & ~game.scored[:, t]
        assert rest.sum() == own
        assert not game.member[rest, t].any()
    assert (game.asked[:, 0] != game.asked[:, 1]).any()


def test_a_fold_with_fewer_rows_is_asked_about_whole():
    assert draw("thirds(targets=1, shadows=2, most=1000)").asked.all()
