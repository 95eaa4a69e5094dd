"""What the combined attack finds of additions that are known, and that it finds none where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from jali.attacks._combined.ratios import own_ratio
from jali.attacks._combined.reading import Reading, Tuning, choose_lens
from jali.attacks._combined.scales import CHANGES
from jali.attacks.lira import LiRA
from jali.audit.trials import ByMetric, Trial, contrast_rows, guess
from jali.core import registry
from jali.core.guesses import Guesses, Shadows
from jali.core.values import Channel, Game, SignalName, Unit
from jali.stats.intervals import contrast
from jali.stats.roc import auc
from tests.attacks.combined.simulated import added, combined, everyone, evidence, mean, truly_added, two_signals

# Correlation of the noise of both signals, shift of the second one.
TARGETS = 5  # for which a combination is learnt once, on the other twelve
SETTINGS = {
    "shared noise .6": (0.6, 0.0),
    "shared noise .9": (0.9, 0.0),
    "shared noise .8 and a small shift": (0.8, 0.3),
    "opposite shifts": (0.3, -0.5),
    "independent, .02": (0.0, 0.32),
    "independent, .05": (0.0, 0.52),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_most_of_the_likelihood_ratios_addition_is_found(setting):
    value, member, before, after = two_signals(*SETTINGS[setting])
    found = combined(evidence(value, member), game=everyone(member, TARGETS))
    assert added(found) >= 0.85 * truly_added(before, after, member, TARGETS)
    assert found.used["auc"].all()


@pytest.mark.parametrize("parts", [1, 12])
def test_where_nothing_is_added_nothing_is_found(parts):
    value, member, _, _ = two_signals(0.0, 0.0)
    rng = np.random.default_rng(1)
    more = rng.normal(0, 2, (parts, len(member), 1)) + rng.normal(size=(parts, *member.shape))
    found = combined(evidence(np.concatenate([value[:1], more]), member), game=everyone(member, TARGETS))
    number, _ = contrast("auc", found.score["auc"], found.baseline["auc"], np.random.default_rng(0))
    assert abs(number.value) < 0.002
    assert number.low <= 0 <= number.high


def test_one_part_of_many_that_leaks_is_found():
    """Axes that follow chance, and a weight for each ratio of each part, would lose two fifths of it."""
    value, member, before, _ = two_signals(0.0, 0.0)
    rng = np.random.default_rng(2)
    rest = rng.normal(size=(20, *member.shape))
    rest[11] += 0.5 * member
    parts = rng.normal(0, 2, (20, len(member), 1)) + rest
    found = combined(evidence(np.concatenate([value[:1], parts]), member), game=everyone(member, TARGETS))
    assert added(found) >= 0.8 * truly_added(before, 0.75 * before + 0.5 * rest[11], member, TARGETS)


def test_records_that_differ_in_spread():
    """A shift that only steady records show; with one spread for all, two fifths of it are found."""
    value, member, before, _ = two_signals(0.0, 0.0)
    rng = np.random.default_rng(3)
    spread = np.exp(rng.normal(size=(len(member), 1)))
    rest = 0.3 * member + spread * rng.normal(size=member.shape)
    found = combined(evidence(np.stack([value[0], 5 + rest]), member), game=everyone(member, TARGETS))
    oracle = 0.75 * before + 0.3 * rest / spread**2
    assert added(found) >= 0.6 * truly_added(before, oracle, member, TARGETS)


def test_a_leak_in_the_spread_alone():
    value, member, before, _ = two_signals(0.0, 0.0)
    rng = np.random.default_rng(4)
    deviation = np.where(member, 1.0, 1.6)
    rest = deviation * rng.normal(size=member.shape)
    found = combined(evidence(np.stack([value[0], rest]), member), game=everyone(member, TARGETS))
    oracle = 0.75 * before - 0.5 * rest**2 * (1 - 1 / 1.6**2)
    assert added(found) >= 0.75 * truly_added(before, oracle, member, TARGETS)


def test_shifts_of_either_sign_add():
    """Half of the records move up, half down, so that there is no common shift."""
    value, member, _, _ = two_signals(0.0, 0.0)
    rng = np.random.default_rng(5)
    sign = rng.choice([-1.0, 1.0], (len(member), 1))
    found = combined(
        evidence(np.stack([value[0], sign * member + rng.normal(size=member.shape)]), member),
        game=everyone(member, TARGETS),
    )
    assert added(found) > 0.05


@pytest.mark.parametrize(("people", "models"), [(700, 10), (1500, 12)])
def test_noise_that_goes_together_for_members_and_apart_for_others(people, models):
    """Two columns without a shift: only their product tells, for few cells as for many."""
    value, member, before, _ = two_signals(0.0, 0.0, n=people, models=models)
    rng = np.random.default_rng(7)
    first, noise = rng.normal(size=(2, *member.shape))
    rest = np.stack([first, np.where(member, 0.4, -0.4) * first + np.sqrt(1 - 0.4**2) * noise])
    columns = rng.normal(0, 2, (2, people, 1)) + rest
    found = combined(evidence(np.concatenate([value[:1], columns]), member), game=everyone(member, TARGETS))
    oracle = 0.75 * before + 2 * 0.4 * rest[0] * rest[1] / (1 - 0.4**2)
    assert added(found) >= 0.65 * truly_added(before, oracle, member, TARGETS)


def test_shifts_whose_sign_follows_the_level_of_the_score():
    """With few models the shift of a record cannot be told from its own cells; its level tells it."""
    value, member, before, _ = two_signals(0.0, 0.0, n=2000, models=6)
    rng = np.random.default_rng(8)
    sign = np.where(value[0].mean(axis=1, keepdims=True) > 0, 1.0, -1.0)
    rest = sign * member + rng.normal(size=member.shape)
    found = combined(evidence(np.stack([value[0], 3 + rest]), member), game=everyone(member))
    assert added(found) >= 0.6 * truly_added(before, 0.75 * before + sign * rest - 0.5, member, 6)


def test_nothing_gained_is_hardly_used_and_has_an_interval_around_zero():
    value, member, _, _ = two_signals(0.0, 0.0)
    rng = np.random.default_rng(6)
    signals = evidence(np.concatenate([value[:1], rng.normal(size=(12, *member.shape))]), member)
    game = everyone(member, TARGETS)
    found = combined(signals, metrics=("auc",), game=game)
    trial = Trial(
        registry.build("attack", "joint"), signals.names, Channel.SCORE_AND_EXPLANATION, "e", Channel.SCORE, 1
    )
    (row,) = contrast_rows(trial, found, game, np.random.default_rng(0))
    assert abs(row.value) < 0.002
    assert row.low <= 0 <= row.high
    assert row.high - row.low > 1e-4


@pytest.mark.parametrize(("shift", "above"), [(-0.3, False), (0.3, True)])
def test_an_explanation_left_out_everywhere_has_the_interval_of_the_forced_combination(shift, above):
    """Around zero where the forced combination gains nothing; where it does, that is said."""
    _, member, _, _ = two_signals(0.0, 0.0)
    rng = np.random.default_rng(6)
    game = everyone(member, TARGETS)
    unit, record = np.nonzero(game.scored.T)
    truth = member[record, unit]
    plain, noise = rng.normal(size=(2, len(unit)))
    baseline = Guesses(plain + truth, truth, unit, record)
    forced = Guesses(plain + truth + shift * (truth + 0.3 * noise), truth, unit, record)
    found = ByMetric({"auc": baseline}, {"auc": baseline}, {"auc": forced}, {"auc": np.zeros(TARGETS, dtype=bool)})
    names = (SignalName("confidence"), SignalName("size", "e"))
    trial = Trial(registry.build("attack", "joint"), names, Channel.SCORE_AND_EXPLANATION, "e", Channel.SCORE, 1)
    (row,) = contrast_rows(trial, found, game, np.random.default_rng(0))
    assert row.unchanged == TARGETS
    assert (row.low > 0) == above
    if not above:
        assert row.value == 0
        assert row.low < row.high == 0


def test_yes_or_no_signals_have_bernoulli_ratios():
    """Where nearly all say yes, the normal ratio mistakes a record without a no for one without noise."""
    rng = np.random.default_rng(7)
    member = rng.random((4000, 25)) < 0.5
    rate = expit(rng.normal(2.5, 1, (6, 4000, 1)) + 1.2 * member)
    value = (rng.random(rate.shape) < rate).astype(float)
    shadows = Shadows(value[:, :, 1:], np.ones(value[:, :, 1:].shape, dtype=bool), member[:, 1:])
    lens = choose_lens(shadows, (np.arange(3),), Tuning(11.0, 0.02))
    assert lens.common.yes_no.all()
    reading = Reading.of(lens, shadows, np.ones((1, 24), dtype=bool))
    bernoulli = reading.table(0, value[:, :, 0], np.ones(4000, dtype=bool))[:6].sum(axis=0)
    sides = [side.pick(slice(0, 6)) for side in reading.sums.sides()]
    normal = own_ratio(value[:, :, 0] - reading.sums.level[:6], *sides, 11.0).sum(axis=0)
    assert auc(bernoulli, member[:, 0]) > auc(normal, member[:, 0]) + 0.005


def votes(rng, n=1500, models=13, trees=50):
    """A forest's share of votes for the true label: many records at 0 or 1, members nearer to 1."""
    member = rng.random((n, models)) < 0.5
    rate = rng.beta(0.6, 0.25, (n, 1))
    return rng.binomial(trees, rate + 0.35 * member * (1 - rate)) / trees, member


def log_odds(p):
    kept = np.clip(p, 1e-12, 1 - 1e-12)
    return np.log(kept) - np.log1p(-kept)


def single(p, member, change, game: Game) -> float:
    signals = evidence(change(p)[None], member)
    return mean(guess(signals, game, Trial(LiRA("shrunken"), signals.names, Channel.SCORE)))


def test_a_forests_votes_are_not_read_as_log_odds():
    p, member = votes(np.random.default_rng(8))
    shadows = Shadows(log_odds(p)[None], np.ones((1, *p.shape), dtype=bool), member, (Unit.LOG_ODDS,))
    lens = choose_lens(shadows, (np.arange(0, 12, 2),), Tuning(11.0, 0.02))
    probability_or_arcsine = CHANGES[Unit.LOG_ODDS][1:3]
    assert lens.own.change[0] in probability_or_arcsine
    assert lens.common.change[0] in probability_or_arcsine


def test_the_best_scale_is_reached_whatever_the_unit():
    p, member = votes(np.random.default_rng(8))
    game = everyone(member, 4)
    changes = (log_odds, lambda q: q, lambda q: np.arcsin(np.sqrt(q)))
    best = max(single(p, member, change, game) for change in changes)
    for value, unit in ((log_odds(p), Unit.LOG_ODDS), (p, Unit.PROBABILITY), (p, Unit.PLAIN)):
        signals = evidence(value[None], member, (unit,))
        trial = Trial(registry.build("attack", "joint"), signals.names, Channel.SCORE)
        assert mean(guess(signals, game, trial)) > best - 0.002


@pytest.mark.parametrize("attack", ["threshold", "calibrated", "ratio", "offline_lrt", "lira"])
def test_with_four_shadow_models_no_single_attack_is_stronger(attack):
    p, member = votes(np.random.default_rng(9), n=800, models=10)
    shadows = np.array([[0 < (k - t) % 10 <= 4 for k in range(10)] for t in range(10)])
    game = Game(member, np.arange(10), shadows, np.ones(member.shape, dtype=bool))
    signals = evidence(np.stack([log_odds(p), p]), member, (Unit.LOG_ODDS, Unit.PROBABILITY))
    both = mean(guess(signals, game, Trial(registry.build("attack", "joint"), signals.names, Channel.SCORE)))
    for name in ("s0", "s1"):
        alone = Trial(registry.build("attack", attack), (SignalName(name),), Channel.SCORE)
        assert both > mean(guess(signals, game, alone)) - 0.01
