"""Only strangers ask, and each model is trained on its own share."""

from __future__ import annotations

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.core.values import Dataset
from jali.data.linear_gaussian import LinearGaussian
from jali.games.outsiders import Outsiders


def test_nobody_who_asks_trained_the_model_they_ask():
    data = LinearGaussian(n=200, d=2).load()
    game = Outsiders(targets=4, share=0.6, most=0).draw(data, np.random.default_rng(0))
    assert (game.scored == ~game.member).all()
    assert game.member.sum(axis=0).tolist() == [120] * 4
    assert not game.shadows.any()
    assert len({column.tobytes() for column in game.member.T}) == 4


def test_rows_of_a_person_stay_on_one_side():
    data = LinearGaussian(n=200, d=2).load()
    grouped = Dataset(data.X, data.y, data.schema, np.arange(200) // 4)
    game = Outsiders(targets=1, most=0).draw(grouped, np.random.default_rng(0))
    assert set(game.member[:, 0].reshape(-1, 4).sum(axis=1)) <= {0, 4}


def test_refuses_what_makes_no_game():
    with pytest.raises(JaliError, match="share must lie between 0 and 1"):
        Outsiders(share=1.0)
