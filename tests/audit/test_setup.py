"""Data are loaded once and games drawn once, from the stream that the seed names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from jali.audit.one_model import GAME, stream
from jali.audit.setup import Experiment, Setup, draw_game, grid, load
from jali.core import registry
from jali.core.errors import JaliError
from jali.games.outsiders import Outsiders


def small(**changes: str) -> Experiment:
    text = {"data": "breast_cancer", "model": "logistic", "game": "rotate(models=6)"} | changes
    explainers = tuple(registry.build("explain", e) for e in ("linear_recourse", "input_x_gradient"))
    return Experiment(*(registry.build(kind, text[kind]) for kind in ("data", "model", "game")), explainers)


@dataclass(frozen=True)
class Counted:
    """A small data set that counts how often it is read."""

    calls: ClassVar[list[int]] = []

    def load(self):
        self.calls.append(1)
        return registry.build("data", "lending(n=80)").load()


def test_the_game_is_that_of_the_seed():
    setup = load(small())
    again = registry.build("game", "rotate(models=6)").draw(setup.data, stream(0, GAME))
    np.testing.assert_array_equal(setup.game.member, again.member)
    assert (load(Experiment(*parts(small()), seed=1)).game.member != setup.game.member).any()
    assert setup.seconds > 0


def parts(experiment):
    return experiment.data, experiment.model, experiment.game


def test_another_game_or_other_parts_load_nothing_again():
    Counted.calls.clear()
    setup = load(Experiment(Counted(), *parts(small())[1:]))
    other = setup.with_game(Outsiders(most=16), seed=4)
    assert isinstance(other, Setup)
    assert other.data is setup.data
    assert (other.parts.game, other.parts.seed) == (Outsiders(most=16), 4)
    np.testing.assert_array_equal(other.game.member, draw_game(other.parts, setup.data).member)
    bare = setup.with_parts(explain=())
    assert bare.game is setup.game
    assert bare.parts.explain == ()
    assert len(Counted.calls) == 1


def test_grid_gives_every_combination():
    models = [registry.build("model", "logistic"), registry.build("model", "logistic(C=5.0)")]
    found = list(grid(small(), model=models, seed=[0, 1, 2]))
    assert [(e.model.C, e.seed) for e in found] == [(c, s) for c in (1.0, 5.0) for s in (0, 1, 2)]
    with pytest.raises(JaliError, match="has no 'colour'"):
        list(grid(small(), colour=[1]))


def test_one_class_only_is_refused():
    with pytest.raises(JaliError, match="one class only"):
        load(small(data=f"{__name__}:OneClass"))


@dataclass(frozen=True)
class OneClass:
    def load(self):
        data = registry.build("data", "lending(n=50)").load()
        return type(data)(data.X, np.zeros(50), data.schema)


def test_a_column_of_groups_that_names_a_handful_of_people_is_refused():
    """It is most often one that people are compared by; nothing could be learnt about so few."""
    with pytest.raises(JaliError, match=r"names only 2 people in 50 rows.*such as sex, is given as sensitive"):
        load(small(data=f"{__name__}:People(many=2)"))
    assert len(load(small(data=f"{__name__}:People(many=20)")).data) == 50


@dataclass(frozen=True)
class People:
    many: int

    def load(self):
        data = registry.build("data", "lending(n=50)").load()
        return type(data)(data.X, data.y, data.schema, np.arange(50) % self.many)
