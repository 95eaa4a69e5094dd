"""What every attack must do, whatever it computes; a new file in attacks/ is held to this without being listed."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from jali.audit.trials import Trial, guess
from jali.core import registry
from jali.core.values import Game, Shadows, Target
from jali.stats.roc import auc
from tests.conftest import planted, target_and_shadows

ATTACKS = [registry.build("attack", name) for name in registry.names("attack")]
ATTACKS += [
    registry.build("attack", f'{name}(spread="{s}")')
    for name, spreads in {
        "lira": ("common", "record", "shrunken"),
        "offline_lrt": ("record", "student", "shrunken"),
    }.items()
    for s in spreads
]
attacks = pytest.mark.parametrize("attack", ATTACKS, ids=[registry.spec(a) for a in ATTACKS])


def aucs(attack, evidence, game) -> np.ndarray:
    found = guess(evidence, game, Trial(attack, evidence.names, "x"))
    return np.array([auc(found.score[found.unit == u], found.truth[found.unit == u]) for u in np.unique(found.unit)])


@attacks
def test_a_planted_leak_is_found_with_the_right_sign(attack):
    evidence, game = planted(shift=1.5, signals=2 if attack.many else 1)
    assert aucs(attack, evidence, game).mean() > 0.65


@attacks
def test_without_a_leak_it_is_a_coin(attack):
    evidence, game = planted(shift=0.0, signals=2 if attack.many else 1)
    values = aucs(attack, evidence, game)
    assert abs(values.mean() - 0.5) < 4 * max(values.std(ddof=1) / np.sqrt(len(values)), 0.004)


@attacks
def test_the_order_of_records_and_shadows_is_irrelevant(attack, rng):
    evidence, _ = planted(shift=1.0, n=80, models=9, signals=2 if attack.many else 1)
    target, shadows = target_and_shadows(evidence)
    rows, columns = rng.permutation(80), rng.permutation(8)
    moved = Shadows(
        shadows.value[:, rows][:, :, columns],
        shadows.observed[:, rows][:, :, columns],
        shadows.member[rows][:, columns],
    )
    again = attack.score(Target(target.value[:, rows], target.observed[:, rows]), moved)
    np.testing.assert_allclose(again, attack.score(target, shadows)[rows], rtol=1e-7, atol=1e-9)


@attacks
def test_scores_are_finite_and_inputs_untouched(attack):
    evidence, _ = planted(shift=1.0, n=50, models=7, signals=2 if attack.many else 1)
    target, shadows = target_and_shadows(evidence)
    for array in (target.value, target.observed, shadows.value, shadows.observed, shadows.member):
        array.setflags(write=False)
    score = attack.score(target, shadows)
    assert score.shape == (50,)
    assert np.isfinite(score).all()


@attacks
def test_degenerate_signals_stay_finite(attack):
    evidence, _ = planted(shift=1.0, n=50, models=7, signals=2 if attack.many else 1)
    target, shadows = target_and_shadows(evidence)
    flat = Shadows(np.ones_like(shadows.value), shadows.observed, shadows.member)
    assert np.isfinite(attack.score(target, flat)).all()
    huge = Shadows(shadows.value * 1e8, shadows.observed, shadows.member)
    assert np.isfinite(attack.score(target, huge)).all()


@attacks
def test_cells_that_were_not_observed_have_no_influence(attack, rng):
    evidence, _ = planted(shift=1.0, n=120, models=13, signals=2 if attack.many else 1)
    target, shadows = target_and_shadows(evidence)
    there = rng.random(shadows.value.shape) < 0.6
    quiet, loud = (Shadows(np.where(there, shadows.value, fill), there, shadows.member) for fill in (0.0, 1e6))
    np.testing.assert_array_equal(attack.score(target, quiet), attack.score(target, loud))
    assert np.isfinite(attack.score(target, quiet)).all()


@attacks
def test_its_specification_rebuilds_it(attack):
    assert registry.build("attack", registry.spec(attack)) == attack
    assert registry.build("attack", registry.spec(attack, every=True)) == attack
    assert dataclasses.is_dataclass(attack)


@attacks
def test_its_docstring_has_an_example(attack):
    text = type(attack).__doc__ or ""
    assert ">>>" in text


@attacks
def test_it_cannot_see_the_membership_of_its_target(attack):
    assert {f.name for f in dataclasses.fields(Target)} == {"value", "observed"}
    evidence, game = planted(shift=1.0, n=60, models=8, signals=2 if attack.many else 1)
    other = dataclasses.replace(game, member=np.where(np.arange(8) == 0, ~game.member, game.member))
    trial = Trial(attack, evidence.names, "x")
    first = Game(game.member, [0], game.shadows[:1], game.scored[:, :1])
    second = Game(other.member, [0], game.shadows[:1], game.scored[:, :1])
    np.testing.assert_array_equal(guess(evidence, first, trial).score, guess(evidence, second, trial).score)
