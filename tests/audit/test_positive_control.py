"""Known additions are planted, recovered, and turned into what an audit would have found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from jali.audit import positive_control
from jali.audit.detection import Planted, detectable, power
from jali.audit.planting import Ideal, plant, shuffled, spread
from jali.audit.positive_control import (
    CHECKS,
    MOST_TIMES,
    NEAR,
    SIZES,
    _next_size,
    control,
    no_finer_than,
    players,
    recover,
    worth,
)
from jali.audit.signal_attacks import attack_evidence
from jali.audit.trials import Trial, guess_by_metric
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.guesses import Guesses
from jali.core.values import Channel, Evidence, Game, SignalName
from jali.results import PositiveControl, Row
from jali.stats.intervals import WIDTHS
from jali.stats.roc import auc
from tests.conftest import planted

NAMES = (SignalName("confidence"), SignalName("size", "e"), SignalName("shape", "e"))


def made(n: int = 600, models: int = 9, leak: float = 0.0, aside: int = 0) -> tuple[Evidence, Game, Trial]:
    """A score with a shift of 0.75 beside an explanation with a shift of `leak`."""
    found, game = planted(0.0, n=n, models=models, signals=3, aside=aside)
    value = found.value.copy()
    value[0] += 0.75 * found.member
    value[1:] += leak * found.member
    trial = Trial(registry.build("attack", "joint"), NAMES, Channel.SCORE_AND_EXPLANATION, "e", Channel.SCORE, 1)
    return replace(found, names=NAMES, value=value), game, trial


FIRST = SIZES[:4]  # without the two largest


def guesses(baseline: float, n: int = 60_000) -> Guesses:
    """Two targets with the same AUC; scores are on a scale that is not that of log-odds."""
    rng = np.random.default_rng(0)
    truth = rng.random(n) < 0.5
    score = 3 + 7 * (rng.normal(size=n) + np.sqrt(2) * ndtri(baseline) * truth)
    return Guesses(score, truth, np.arange(n) % 2, np.arange(n) // 2)


def one_size(size: float, recovered: float, noise: float, deviation: float, half: float) -> Planted:
    """What is recovered of one size, where all intervals are equally wide."""
    return Planted(size, recovered, noise, deviation, (half,) * WIDTHS)


@pytest.mark.parametrize(("baseline", "size"), [(0.5, 0.1), (0.7, 0.02), (0.9, 0.05)])
def test_the_shift_adds_what_it_should(baseline, size):
    """The likelihood ratio of both normal signals, on fresh draws, with shifts that differ as planted ones do."""
    rng = np.random.default_rng(1)
    shift = Ideal.of(guesses(baseline)).shift_for(size, rng)
    n = 200_000
    truth = rng.random(n) < 0.5
    first = np.sqrt(2) * ndtri(baseline)
    score = first * (rng.normal(size=n) + first * truth)
    each = spread(shift, rng.normal(size=n))
    both = score + each * (rng.normal(size=n) + each * truth - each / 2)
    start = auc(score, truth) if first else 0.5
    assert auc(both, truth) - start == pytest.approx(size, abs=0.004)


@pytest.mark.parametrize("tail", [3.0, 1e3])
def test_scores_with_far_tails_and_on_scales_of_their_own_are_worth_as_much(tail):
    """Log-odds follow ranks: scores stretched far out, by another factor in each target, need the same shift."""
    plain = guesses(0.7)
    far = np.sinh((plain.score - 3) / 7 * np.log(tail)) * np.where(plain.unit == 0, 1.0, 50.0) + plain.unit
    stretched = Ideal.of(replace(plain, score=far)).shift_for(0.02, np.random.default_rng(1))
    assert stretched == Ideal.of(plain).shift_for(0.02, np.random.default_rng(1))


@pytest.mark.parametrize(("shift", "size"), [(2.5, 0.0036), (3.64, 0.0012)])
def test_a_strong_baseline_of_few_people_is_not_taken_for_a_weaker_one(shift, size):
    """Targets of 300 people, AUC .96 and .995: what is planted adds what it says, to scores of very many people."""
    rng = np.random.default_rng(4)
    n = 200_000
    added = []
    for _ in range(6):
        truth = rng.random((16, 300)) < 0.5
        score = shift * truth + rng.normal(size=truth.shape)
        unit, record = (part.ravel() for part in np.indices(truth.shape))
        small = Ideal.of(Guesses(score.ravel(), truth.ravel(), unit, record)).shift_for(size, rng)
        each = spread(small, rng.normal(size=n))
        side = rng.random(n) < 0.5
        odds = shift * (rng.normal(size=n) + shift * side - shift / 2)
        both = odds + each * (rng.normal(size=n) + each * side - each / 2)
        added.append(auc(both, side) - auc(odds, side))
    assert np.mean(added) == pytest.approx(size, rel=0.12)  # with ranks among all of a target, 13 and 39 % less


def test_chance_of_a_weak_baseline_is_not_knowledge():
    """A few guesses by a coin: log-odds are near none, though a line through them would bend."""
    rng = np.random.default_rng(2)
    truth = rng.random(400) < 0.5
    coin = Ideal.of(Guesses(rng.normal(size=400), truth, np.arange(400) % 2, np.arange(400) // 2))
    assert coin.odds.std() < 0.15
    shift = coin.shift_for(0.1, rng)
    n = 100_000
    each = spread(shift, rng.normal(size=n))
    side = rng.random(n) < 0.5
    assert auc(each * (rng.normal(size=n) + each * side - each / 2), side) == pytest.approx(0.6, abs=0.02)


def test_an_auc_above_one_cannot_be_planted():
    rng = np.random.default_rng(0)
    assert Ideal.of(guesses(0.96, 4000)).shift_for(0.05, rng) is None
    assert Ideal.of(guesses(0.9, 4000)).shift_for(0.05, rng) is not None


def test_shifts_differ_by_as_much_as_their_mean():
    drawn = spread(0.8, np.random.default_rng(0).normal(size=100_000))
    assert drawn.std() == pytest.approx(drawn.mean(), rel=0.02)
    assert np.sqrt((drawn**2).mean()) == pytest.approx(0.8, rel=0.02)


def test_a_shuffled_record_keeps_its_values_and_its_gaps():
    rng = np.random.default_rng(1)
    some = rng.random((50, 7)) < 0.6
    value = np.where(some, rng.normal(size=some.shape), 99.0)
    order = shuffled(some, rng)
    moved = np.take_along_axis(value, order, axis=1)
    np.testing.assert_array_equal(moved[~some], 99.0)
    np.testing.assert_array_equal(np.sort(moved, axis=1), np.sort(value, axis=1))
    assert (moved != value).any()


def test_what_the_explanation_told_is_gone_and_what_is_planted_is_there():
    evidence, _, trial = made(n=4000, leak=2.0)
    leak = plant(evidence, trial, 0.5, np.random.default_rng(2))
    found = leak.evidence
    np.testing.assert_array_equal(found.value[0], evidence.value[0])
    inside = found.member
    level = found.value.mean(axis=2, keepdims=True)
    rest = found.value - level
    assert abs(rest[2][inside].mean() - rest[2][~inside].mean()) < 0.05
    deviation = np.sqrt((rest[1] ** 2).sum() / (rest[1].size - len(level[1])))
    apart = (rest[1][inside].mean() - rest[1][~inside].mean()) / deviation
    assert apart == pytest.approx(leak.shift.mean(), abs=0.1)
    assert leak.shift.mean() == pytest.approx(0.5 / np.sqrt(2), abs=0.02)


def test_shadow_models_play_the_targets_and_the_target_takes_no_part():
    """One target that is nobody's shadow model."""
    _, game, _ = made()
    alone = Game(game.member, game.targets[:1], game.shadows[:1], game.scored[:, :1])
    playing = players(alone, np.ones(game.member.shape, dtype=bool))
    assert playing.targets.tolist() == list(range(1, 9))
    assert not playing.shadows[:, 0].any()
    assert not playing.shadows[np.arange(8), playing.targets].any()
    assert (playing.shadows.sum(axis=1) == 7).all()


def test_targets_that_are_shadow_models_of_others_play_with_as_many_shadow_models_as_in_the_audit():
    _, game, _ = made()
    playing = players(game, np.ones(game.member.shape, dtype=bool))
    np.testing.assert_array_equal(playing.targets, game.targets)
    np.testing.assert_array_equal(playing.shadows, game.shadows)


def test_other_shadow_models_play_where_there_are_few_targets():
    _, game, _ = made()
    few = Game(game.member, game.targets[:3], game.shadows[:3], game.scored[:, :3])
    playing = players(few, np.ones(game.member.shape, dtype=bool))
    assert playing.targets.tolist() == list(range(9))
    assert playing.shadows.sum(axis=1).tolist() == [8] * 3 + [7] * 6
    assert not playing.shadows[np.arange(9), playing.targets].any()


def test_few_people_have_more_players():
    """10,000 guesses at least, by four players at least: 13 models are too few for 200 people a model."""
    _, game, _ = made(n=2000, models=13)
    everybody = np.ones(game.member.shape, dtype=bool)
    some = np.arange(2000)[:, None] % 10 < np.array([7, 1])[:, None, None]
    assert len(players(game, everybody).targets) == 5
    assert len(players(game, everybody & some[0]).targets) == 8  # 10,000 / 1,400
    assert len(players(game, everybody & some[1]).targets) == 13
    _, large, _ = made(n=20_000, models=13)
    assert len(players(large, np.ones(large.member.shape, dtype=bool)).targets) == 4


def test_three_shadow_models_are_too_few():
    _, game, _ = made(models=4)
    with pytest.raises(JaliError, match="it needs 4 shadow models, and there are 3"):
        players(game, np.ones(game.member.shape, dtype=bool))


def test_no_addition_is_named_for_two_target_models():
    evidence, game, trial = made(models=12)
    two = replace(game, targets=game.targets[:2], shadows=game.shadows[:2], scored=game.scored[:, :2])
    with pytest.raises(JaliError, match="two target models are too wide to name an addition"):
        recover(evidence, two, trial, np.random.default_rng(0))


def test_a_large_addition_is_recovered_and_none_is_not():
    """Shifts that differ from record to record are known to an attack only as well as its shadow models show them."""
    evidence, game, trial = made(n=1500, models=13)
    none, *_, large = recover(evidence, game, trial, np.random.default_rng(3))
    assert none.size == 0
    assert large.size in SIZES
    assert 0.35 * large.size < large.recovered < 1.1 * large.size
    assert none.recovered == pytest.approx(0.0, abs=0.004)
    assert large.recovered > np.mean(large.half) > 0


def test_only_people_with_an_explanation_count():
    """Explanations for one person in five: such an audit knows as little as one of so few people."""
    evidence, game, trial = made(n=1000)
    few = np.arange(1000) < 200
    observed = evidence.observed.copy()
    observed[1:, ~few] = False
    gaps = recover(replace(evidence, observed=observed), game, trial, np.random.default_rng(5))
    small = Game(game.member[few], game.targets, game.shadows, game.scored[few])
    fewer = Evidence(NAMES, evidence.value[:, few], evidence.observed[:, few], game.member[few], evidence.units)
    wanted = recover(fewer, small, trial, np.random.default_rng(5))
    both = [(a, b) for a in gaps for b in wanted if a.size == b.size]
    assert len(both) >= 3
    assert 0.6 < np.median([np.mean(a.half) / np.mean(b.half) for a, b in both]) < 1.7


def test_the_curve_through_planted_sizes_by_hand():
    """Half an interval is 0.004. Of 0.01 a fifth is recovered, of 0.05 0.84: at 0.0155 0.37, 0.0058, is just enough."""
    recovered = (0.001, -0.003, 0.002, 0.042)
    points = [one_size(size, got, 0.0012, 0.0016, 0.004) for size, got in zip(FIRST, recovered, strict=True)]
    _, _, trial = made(n=60)
    found = control(trial, points)
    assert found.detectable is not None
    part = np.log(found.detectable / 0.01) / np.log(0.05 / 0.01)
    counts = ((1 - part) * found.detectable / 0.01, part * found.detectable / 0.05)
    share = (1 - part) * 0.2 + part * 0.84
    unsure = np.hypot(0.0016, 0.0012 * np.hypot(*counts))
    assert found.detectable == pytest.approx(0.0155, rel=0.01)
    assert share * found.detectable == pytest.approx(0.004 + 0.8416 * unsure, rel=0.01)
    # Nothing planted recovers nothing; it and its neighbour fall, and are replaced by their mean, known better.
    first = (-0.0015 - 0.004) / np.hypot(0.0016, 0.0012 / np.sqrt(2))
    assert found.power == pytest.approx(ndtr([first, first, -1.0, 19.0]), abs=1e-6)
    assert found.recovered == list(recovered)


def test_more_than_was_planted_is_recovered_by_luck():
    """Twice the planted addition would make 0.005 found: 0.004 + 0.84 * 0.001; no attack does better than 0.0048."""
    points = [one_size(size, 2 * size, 0.0, 0.001, 0.004) for size in FIRST]
    _, _, trial = made(n=60)
    assert control(trial, points).detectable == pytest.approx(0.00484, rel=0.02)


def test_a_larger_audit_knows_what_is_recovered_no_better(monkeypatch):
    """A forecast plants in few records what many will be judged on; with noise made smaller it named 0.0003."""
    evidence, game, trial = made(n=300)

    def planted(wider):
        sizes = iter((0.0, 0.01, 0.05, None))
        monkeypatch.setattr(positive_control, "_next_size", lambda *_: next(sizes))
        return recover(evidence, game, trial, np.random.default_rng(8), wider=wider)

    few = planted(1.0)
    many = planted(0.2)
    assert [p.size for p in few] == [0.0, 0.01, 0.05]
    for one, other in zip(few, many, strict=True):
        assert (other.recovered, other.noise) == (one.recovered, one.noise)
        assert other.half == pytest.approx(0.2 * np.array(one.half))
        assert other.deviation == pytest.approx(0.2 * one.deviation)


def test_a_line_between_two_sizes_is_not_taken_where_a_growing_share_is_recovered():
    """A tenth of 0.05 and six tenths of 0.2: half way, at 0.1, it is 0.35 of it, 0.035; the straight line has 0.043."""
    points = [one_size(size, got, 1e-6, 1e-6, 0.035) for size, got in ((0.0, 0.0), (0.05, 0.005), (0.2, 0.12))]
    assert detectable(points) == pytest.approx(0.1, rel=0.01)
    # Where chance made the share fall, the straight line is the lower one.
    points = [one_size(size, got, 1e-6, 1e-6, 0.045) for size, got in ((0.0, 0.0), (0.05, 0.04), (0.2, 0.055))]
    assert detectable(points) == pytest.approx(0.1, rel=0.01)


def test_intervals_that_differ_in_width_from_audit_to_audit():
    """Half an interval is 0.002 in half of all audits and 0.018 in the others; what differs by 0.001 is recovered."""
    half = (0.002, 0.018)
    points = [Planted(size, size, 1e-9, 0.001, half) for size in (0.0, 0.01, 0.05)]
    assert power(np.array([0.01, 0.018, 0.05]), points) == pytest.approx([0.5, 0.75, 1.0], abs=1e-6)
    # Eight of ten audits: all with narrow intervals, and six of ten with wide ones.
    assert detectable(points) == pytest.approx(0.018 + 0.001 * ndtri(0.6), rel=0.01)


def test_few_people_have_each_size_planted_several_times():
    """What one planting recovers of a size is noisy; nothing planted is recovered once, which says who is a member."""
    evidence, game, trial = made(n=80, models=9)
    calls = []

    def counted(*given):
        calls.append(given[2])
        return plant(*given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(positive_control, "plant", counted)
        found = recover(evidence, game, trial, np.random.default_rng(4))
    assert len(calls) == 1 + MOST_TIMES * (len(found) - 1)


def test_no_number_is_no_power():
    """Where a width is not a number nobody knows what would be found."""
    points = [one_size(size, size, 0.001, 0.001, np.nan) for size in FIRST]
    assert detectable(points) is None


def test_the_unit_of_weights_does_not_matter():
    members, others = np.ones(50), np.array([1.0] * 25 + [0.5] * 10)
    for unit in (1e-9, 1e200):
        assert worth(unit * members, unit * others) == pytest.approx(worth(members, others))


def test_weights_make_an_audit_smaller():
    """Of 300 non-members two thirds have weight 0.1: they count for (100 + 20)^2 / 102 = 141."""
    assert worth(np.ones(300), np.repeat([1.0, 0.1], [100, 200])) == pytest.approx(4 / (1 / 300 + 102 / 120**2))
    evidence, game, trial = made(n=600)
    one = Game(game.member, [0], game.shadows[:1], game.scored[:, :1])
    inside = game.member[:, 0]
    weight = np.where(inside, 1.0, np.where(np.arange(600) % 3 == 0, 1.0, 0.1))
    plain = recover(evidence, one, trial, np.random.default_rng(9))[:1]
    weighed = recover(evidence, replace(one, weight=weight[:, None]), trial, np.random.default_rng(9))[:1]
    wider = np.sqrt(worth(np.ones(inside.sum()), np.ones((~inside).sum())) / worth(weight[inside], weight[~inside]))
    assert wider > 1.2
    for a, b in zip(plain, weighed, strict=True):
        assert b.half == pytest.approx(wider * np.array(a.half))
        assert b.deviation == pytest.approx(wider * a.deviation)
        assert b.recovered == pytest.approx(a.recovered, abs=0.001)


def test_larger_leaks_do_not_make_narrower_intervals():
    """A combination that hardly uses the explanation has a narrow interval by luck."""
    points = [one_size(size, size, 0.0, 0.001, 0.02 if size == 0.002 else 0.001) for size in FIRST]
    _, _, trial = made(n=60)
    assert control(trial, points).detectable > 0.02


def test_no_limit_is_named_beyond_what_was_planted():
    """In proportion, 0.097 would be found; limits that were drawn so were found in 6 of 10 audits instead of 8."""
    points = [one_size(size, 0.5 * size, 0.0, 0.01, 0.04) for size in FIRST]
    _, _, trial = made(n=60)
    assert control(trial, points).detectable is None
    further = [*points, one_size(0.15, 0.5 * 0.15, 0.0, 0.01, 0.04)]
    assert control(trial, further).detectable == pytest.approx((0.04 + 0.8416 * 0.01) / 0.5, rel=0.02)


def test_sizes_grow_until_one_is_found_and_then_the_limit_is_planted():
    evidence, game, trial = made(n=150)
    small = Game(game.member, [0], game.shadows[:1], game.scored[:, :1])
    sizes = [p.size for p in recover(evidence, small, trial, np.random.default_rng(6))]
    assert sizes == sorted(sizes)
    assert {0.0, 0.15} <= set(sizes)
    assert 0.002 not in sizes  # its interval is wider than that, so nothing would be learnt
    large, all_targets, trial = made(n=1200)
    planted_sizes = [p.size for p in recover(large, all_targets, trial, np.random.default_rng(6))]
    assert 0.15 not in planted_sizes
    checked = [size for size in planted_sizes if size not in SIZES]
    limit = control(trial, recover(large, all_targets, trial, np.random.default_rng(6))).detectable
    assert 1 <= len(checked) <= CHECKS
    assert min(abs(np.log(limit / size)) for size in checked) <= np.log(NEAR)


def test_a_limit_that_luck_made_low_is_planted_and_given_up():
    """One size is found by luck: the limit below it is tried, recovers nothing, and a larger size is planted."""
    points = [one_size(0.0, 0.0, 0.002, 0.004, 0.008), one_size(0.002, 0.0, 0.002, 0.004, 0.008)]
    larger, checked = [0.05, 0.15], []
    assert _next_size(points, larger, checked) == 0.05
    points.append(one_size(0.05, 0.04, 0.002, 0.004, 0.008))
    lucky = _next_size(points, larger, checked)
    assert 0.02 < lucky < 0.025
    points.insert(2, one_size(lucky, 0.0, 0.002, 0.004, 0.008))
    second = _next_size(points, larger, checked)
    assert lucky * NEAR < second < 0.05
    assert larger == [0.15]
    points.insert(3, one_size(second, 0.016, 0.002, 0.004, 0.008))
    assert _next_size(points, larger, checked) is None
    assert checked == [lucky, second]


def test_what_nobody_could_find_is_said_to_be_unknown():
    _, _, trial = made(n=60)
    assert control(trial, [one_size(size, 0.0, 0.001, 0.01, 0.05) for size in SIZES]).detectable is None
    assert control(trial, []).detectable is None


def test_every_audit_has_its_control():
    evidence, game, _ = made(n=400)
    found = attack_evidence(evidence, game)
    assert [(c.explainer, c.against) for c in found.controls] == [("e", Channel.SCORE)]
    (row,) = [r for r in found.rows if r.kind == "contrast" and r.metric == "auc"]
    assert row.detectable == found.controls[0].detectable
    assert row.detectable > 0


def test_where_no_control_can_be_run_the_reason_is_kept():
    evidence, game, _ = made(n=400, models=4)
    (found,) = attack_evidence(evidence, game).controls
    assert found.detectable is None
    assert "4 shadow models" in found.reason


def test_the_control_does_not_read_the_targets_membership():
    evidence, game, trial = made(n=300)
    one = Game(game.member, [0], game.shadows[:1], game.scored[:, :1])
    flipped = game.member.copy()
    flipped[:, 0] = ~flipped[:, 0]
    other = Game(flipped, [0], game.shadows[:1], game.scored[:, :1])
    first = recover(evidence, one, trial, np.random.default_rng(4))
    second = recover(replace(evidence, member=flipped), other, trial, np.random.default_rng(4))
    assert len(first) >= 3
    assert first == second


def test_a_combination_that_gains_nothing_still_has_an_interval():
    evidence, game, trial = made(n=500)
    found = guess_by_metric(evidence, game, trial)
    rows = [r for r in attack_evidence(evidence, game).rows if r.kind == "contrast" and r.metric == "auc"]
    assert all(r.low < r.high for r in rows)
    assert set(found.used) == set(found.score)


def test_no_smaller_addition_is_named_than_the_audits_own_interval_could_show():
    """In 4,000 draws of an estimate whose interval has that width, the addition named is found in 8 of 10."""
    sd = 0.006
    measured = Row(kind="contrast", metric="auc", value=0.009, low=0.009 - 1.96 * sd, high=0.009 + 1.96 * sd)
    known = PositiveControl(explainer="e", against=None, detectable=0.0045)
    named = no_finer_than(measured, known).detectable
    drawn = named + sd * np.random.default_rng(0).normal(size=4000)
    assert np.mean(drawn - 1.96 * sd > 0) == pytest.approx(0.8, abs=0.02)
    assert no_finer_than(measured, known.model_copy(update={"detectable": 0.05})).detectable == 0.05
    assert no_finer_than(measured, known.model_copy(update={"detectable": None})).detectable is None
    assert no_finer_than(measured.model_copy(update={"low": None}), known) == known
