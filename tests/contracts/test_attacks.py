"""What every attack must do, whatever it computes; a new file in attacks/ is held to this without being listed."""

from __future__ import annotations

import dataclasses
from dataclasses import replace

import numpy as np
import pytest

from jali.audit.trials import Trial, guess
from jali.core import registry
from jali.core.guesses import Records, Shadows, Target
from jali.core.values import Game
from jali.stats.roc import auc
from tests.conftest import planted, records_for, target_and_shadows

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


ASIDE = 160  # records that an attack without shadows is given to compare with


def planted_for(attack, shift: float, **sizes):
    """Evidence with the signals, and the people set aside, that an attack needs."""
    aside = ASIDE if "reference" in attack.requires else 0
    return planted(shift, signals=2 if attack.many else 1, aside=aside, **sizes)


def seen_by(attack, shift: float, **sizes):
    """What an attack is given of one target, and of its shadows."""
    evidence, game = planted_for(attack, shift, **sizes)
    target, shadows = target_and_shadows(evidence)
    return (replace(target, records=records_for(game)) if game.aside is not None else target), shadows


def aucs(attack, evidence, game) -> np.ndarray:
    found = guess(evidence, game, Trial(attack, evidence.names, "x"), records_for(game))
    return np.array([auc(found.score[found.unit == u], found.truth[found.unit == u]) for u in np.unique(found.unit)])


@attacks
def test_a_planted_leak_is_found_with_the_right_sign(attack):
    evidence, game = planted_for(attack, shift=1.5)
    assert aucs(attack, evidence, game).mean() > 0.65


@attacks
def test_without_a_leak_it_is_a_coin(attack):
    evidence, game = planted_for(attack, shift=0.0)
    values = aucs(attack, evidence, game)
    assert abs(values.mean() - 0.5) < 4 * max(values.std(ddof=1) / np.sqrt(len(values)), 0.004)


@attacks
def test_the_order_of_records_and_shadows_is_irrelevant(attack, rng):
    target, shadows = seen_by(attack, shift=1.0, n=80, models=9)
    rows, columns = rng.permutation(target.value.shape[1]), rng.permutation(8)
    moved = Shadows(
        shadows.value[:, rows][:, :, columns],
        shadows.observed[:, rows][:, :, columns],
        shadows.member[rows][:, columns],
    )
    again = attack.score(Target(target.value[:, rows], target.observed[:, rows], _moved(target.records, rows)), moved)
    np.testing.assert_allclose(again, attack.score(target, shadows)[rows], rtol=1e-7, atol=1e-9)


def _moved(records, rows):
    return None if records is None else Records(*(getattr(records, f.name)[rows] for f in dataclasses.fields(Records)))


@attacks
def test_scores_are_finite_and_inputs_untouched(attack):
    target, shadows = seen_by(attack, shift=1.0, n=50, models=7)
    for array in (target.value, target.observed, shadows.value, shadows.observed, shadows.member):
        array.setflags(write=False)
    score = attack.score(target, shadows)
    assert score.shape == (target.value.shape[1],)
    assert np.isfinite(score).all()


@attacks
def test_degenerate_signals_stay_finite(attack):
    target, shadows = seen_by(attack, shift=1.0, n=50, models=7)
    flat = Shadows(np.ones_like(shadows.value), shadows.observed, shadows.member)
    assert np.isfinite(attack.score(target, flat)).all()
    huge = Shadows(shadows.value * 1e8, shadows.observed, shadows.member)
    assert np.isfinite(attack.score(target, huge)).all()
    for value in (np.ones_like(target.value), target.value * 1e8):
        assert np.isfinite(attack.score(replace(target, value=value), shadows)).all()


@attacks
def test_cells_that_were_not_observed_have_no_influence(attack, rng):
    target, shadows = seen_by(attack, shift=1.0, n=120, models=13)
    there = rng.random(shadows.value.shape) < 0.6
    quiet, loud = (Shadows(np.where(there, shadows.value, fill), there, shadows.member) for fill in (0.0, 1e6))
    np.testing.assert_array_equal(attack.score(target, quiet), attack.score(target, loud))
    assert np.isfinite(attack.score(target, quiet)).all()


@attacks
def test_people_set_aside_help_only_attacks_that_ask_for_them(attack):
    evidence, game = planted_for(attack, shift=1.0, n=60, models=8)
    aside = game.aside
    if aside is None:
        evidence, game = planted(shift=1.0, n=60, models=8, signals=2 if attack.many else 1, aside=ASIDE)
    other = np.where(game.aside[:, None], evidence.value + 5.0, evidence.value)
    trial, records = Trial(attack, evidence.names, "x"), records_for(game)
    moved = guess(replace(evidence, value=other), game, trial, records).score
    assert np.array_equal(guess(evidence, game, trial, records).score, moved) == (aside is None)


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
    assert {f.name for f in dataclasses.fields(Target)} == {"value", "observed", "records"}
    evidence, game = planted_for(attack, shift=1.0, n=60, models=8)
    flipped = (np.arange(8) == 0) & game.scored
    other = dataclasses.replace(game, member=game.member ^ flipped)
    trial = Trial(attack, evidence.names, "x")
    games = [Game(g.member, [0], g.shadows[:1], g.scored[:, :1], aside=g.aside) for g in (game, other)]
    first, second = (guess(evidence, g, trial, records_for(g)) for g in games)
    assert (first.truth != second.truth).all()
    np.testing.assert_array_equal(first.score, second.score)
