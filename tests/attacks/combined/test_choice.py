"""What is chosen, for which metric, and on which shadow models."""

from __future__ import annotations

import numpy as np
import pytest

from jali.attacks._combined.candidates import Half, Lesson, averaged, linear, rules, singles
from jali.attacks._combined.choice import (
    Pool,
    Tried,
    Way,
    _best_way,
    _clearly_above_zero,
    _each,
    _judged,
    _said,
    learn,
    set_aside,
)
from jali.attacks._combined.criteria import criteria, criteria_of
from jali.attacks._combined.reading import OWN, SUMS, Reading, Tuning, choose_lens, without
from jali.core.guesses import Shadows, Target
from jali.stats.roc import auc, tpr_at
from tests.attacks.combined.simulated import combined, evidence, mean, target_and_shadows

TUNING = Tuning(11.0, 0.02)


def shadows(rng, records=300, models=14) -> Shadows:
    member = rng.random((records, models)) < 0.5
    value = rng.normal(size=(2, records, models)) + member
    return Shadows(value, np.ones(value.shape, dtype=bool), member)


def test_fitted_and_judging_models_are_apart_and_do_not_depend_on_the_order(rng):
    mine = shadows(rng)
    fit, judge = set_aside(mine)
    assert not set(fit) & set(judge)
    assert abs(len(fit) - len(judge)) <= 1
    order = rng.permutation(14)
    moved = Shadows(mine.value[:, :, order], mine.observed[:, :, order], mine.member[:, order])
    again = set_aside(moved)
    assert [sorted(order[part]) for part in again] == [sorted(fit), sorted(judge)]


def test_too_few_models_to_set_any_aside(rng):
    assert [len(part) for part in set_aside(shadows(rng, models=2))] == [0, 0]
    assert [part.tolist() for part in set_aside(shadows(rng, models=1))] == [[0], []]


def test_a_single_shadow_model_is_learnt_from_as_it_is(rng):
    learnt = learn(shadows(rng, models=1), 1, ("auc",), TUNING)
    assert learnt.everything.chosen == {"auc": "as they are"}


def test_a_rate_is_chosen_by_its_neighbourhood_and_the_rest_by_auc(rng):
    truth = np.arange(4000) < 2000
    score = rng.normal(size=4000) + truth
    errors = np.array([0.005, 0.01, 0.02, 0.04, 0.08])
    rates = [tpr_at(score, truth, e) for e in errors]
    assert criteria(score, truth, ("tpr@0.01",))[0] == pytest.approx(rates @ errors**-0.5)
    assert criteria(score, truth, ("balanced_accuracy",))[0] == criteria(score, truth, ("auc",))[0]
    mirrored = criteria(-score, ~truth, ("tnr@0.01",))[0]
    assert mirrored == pytest.approx(criteria(score, truth, ("tpr@0.01",))[0])


def test_the_best_at_one_percent_and_the_best_in_auc_are_two(rng):
    """One candidate finds a tenth of the members without error and knows nothing else; the other a little of all."""
    truth = rng.random(8000) < 0.5
    sure = np.where(truth & (rng.random(8000) < 0.1), 10.0, rng.normal(size=8000))
    weak = rng.normal(size=8000) + 0.8 * truth
    half = Half(np.stack([sure, weak]), truth, np.full(4, 2000), np.array([OWN, OWN]))
    made = {"sure": lambda table: table[0], "weak": lambda table: table[1]}
    tried = Tried.of(*_said(made, half), ("auc", "tpr@0.01"))
    assert tried.best("auc") == "weak"
    assert tried.best("tpr@0.01") == "sure"


def test_a_rate_that_cannot_be_resolved_is_chosen_by_auc(rng):
    truth = np.arange(100) < 50
    sure = np.where(np.arange(100) < 10, 10.0, -1.0 * truth)
    weak = rng.normal(size=100) + 1.0 * truth
    tried = Tried.of({"sure": [sure], "weak": [weak]}, [truth], ("auc", "tpr@0.01"))
    assert tried.best("auc") == tried.best("tpr@0.01") == "weak"


def _tried(name: str, scores, truth) -> Tried:
    return Tried.of({name: scores}, truth, ("auc",))


def _way(name: str, before, after, truth) -> tuple[Way, np.ndarray]:
    """The best way to combine the candidate "all" with a baseline, and what it gains on each model."""
    tried = _tried("all", after, truth)
    each = _each(tried, (name, Way(name)), _tried(name, before, truth), {})
    way = _best_way("auc", tried, each)
    return way, each("auc", way) - each("auc", None)


def test_a_little_of_a_poor_combination_beside_the_baseline_is_better_than_all_of_it(rng):
    """The combination of all signals knows a little more, in much noise of its own."""
    truth = [rng.random(3000) < 0.5 for _ in range(4)]
    before = [rng.normal(size=3000) + 1.0 * side for side in truth]
    after = [rng.normal(size=3000) + 0.4 * side for side in truth]
    way, gained = _way("base", before, after, truth)
    assert way.candidate == "all"
    assert way.weight == 0.3
    assert gained.mean() > 0


def test_a_combination_that_is_better_by_itself_needs_no_baseline(rng):
    truth = [rng.random(3000) < 0.5 for _ in range(4)]
    before = [rng.normal(size=3000) + 0.1 * side for side in truth]
    after = [rng.normal(size=3000) + 3.0 * side for side in truth]
    assert _way("b", before, after, truth)[0] == Way("all")


def test_noise_beside_the_baseline_is_ignored_or_hardly_used(rng):
    truth = [rng.random(3000) < 0.5 for _ in range(6)]
    before = [rng.normal(size=3000) + 1.0 * side for side in truth]
    after = [rng.normal(size=3000) for _ in truth]
    way, gained = _way("b", before, after, truth)
    assert way.weight == 0.1
    assert abs(gained.mean()) < 0.004


def test_the_baseline_has_the_same_choice(rng):
    """Two halves of what the score tells: a baseline that could not add them up would make noise look like a gift."""
    truth = [rng.random(3000) < 0.5 for _ in range(6)]
    halves = {name: [rng.normal(size=3000) + 0.7 * side for side in truth] for name in ("one", "other")}
    tried = Tried.of(halves, truth, ("auc",))
    best = tried.best("auc")
    each = _each(tried, (best, Way(best)), tried, {})
    way = _best_way("auc", tried, each)
    assert way.candidate != best
    assert way.weight == 1.0
    assert (each("auc", way) - each("auc", None)).mean() > 0.05
    lens = learn(shadows(rng), 1, ("auc",), TUNING).baseline.lens
    pool = Pool(slice(0, 1), lens, {}, {"auc": best}, {"auc": way}, tried)
    assert pool.wanted == {"one", "other"}
    everybody = np.ones(3000, dtype=bool)
    score = pool.score("auc", {name: said[0] for name, said in halves.items()}, everybody)
    assert auc(score, truth[0]) == pytest.approx(each("auc", way)[0], abs=1e-12)


def test_deviations_are_those_of_the_records_that_are_judged():
    baseline = np.array([1.0, -1.0, 1e9])
    other = np.array([2.0, -2.0, 0.0])
    score = Way("all", 0.5)(baseline, other, np.array([True, True, False]))
    np.testing.assert_allclose(score[:2], [1.5, -1.5])


def test_where_no_model_can_be_set_aside_the_sum_is_used(rng):
    learnt = learn(shadows(rng, models=2), 1, ("auc",), TUNING)
    assert learnt.baseline.chosen == learnt.everything.chosen == {"auc": "sum"}
    assert learnt.helps == {"auc": True}


def test_without_an_explanation_both_sides_are_the_same(rng):
    learnt = learn(shadows(rng), 2, ("auc",), TUNING)
    assert learnt.everything is learnt.baseline
    assert learnt.helps == {"auc": False}


def test_least_squares_by_hand(rng):
    """With little ridge, the rule ranks as Fisher's discriminant does."""
    truth = rng.random(5000) < 0.5
    noise = np.linalg.cholesky([[1.0, 0.9], [0.9, 1.0]]) @ rng.normal(size=(2, 5000))
    table = np.array([[1.0], [0.0]]) * truth + noise
    rule = linear(table, truth, np.array([0, 1]), 1e-9)
    fisher = np.linalg.solve(np.cov(noise), table[:, truth].mean(axis=1) - table[:, ~truth].mean(axis=1)) @ table
    assert np.corrcoef(rule(table), fisher)[0, 1] > 0.9999
    assert (
        linear(table, truth, np.array([1]), 1e-9)(table) == linear(table[1:], truth, np.array([0]), 1e-9)(table[1:])
    ).all()


def test_the_best_signal_alone_comes_first(rng):
    truth = rng.random(200) < 0.5
    lesson = Lesson(rng.normal(size=(3, 200)) + truth * np.array([[0.0], [2.0], [1.0]]), truth)
    found = singles([lesson], np.array([OWN, OWN, SUMS]))
    assert list(found) == ["signal 1, own shift", "signal 0, own shift"]
    assert (found["signal 1, own shift"](lesson.table) == lesson.table[1]).all()


def test_lessons_are_parts_of_one_table():
    truths = [np.array([True, False, True]), np.array([False, True])]
    half = Half.room(truths, np.array([OWN, SUMS]))
    for k, lesson in enumerate(half.lessons):
        lesson.table[:] = k
        assert lesson.truth.tolist() == truths[k].tolist()
    assert half.table.tolist() == [[0, 0, 0, 1, 1]] * 2


def test_rules_of_both_halves_are_averaged(rng):
    block = np.array([OWN, SUMS])
    drawn = [Half(rng.normal(size=(2, 200)), rng.random(200) < 0.5, np.array([200]), block) for _ in range(2)]
    halves = [rules(half) for half in drawn]
    table = rng.normal(size=(2, 50))
    both = averaged(*halves)
    assert both["linear"](table) == pytest.approx((halves[0]["linear"](table) + halves[1]["linear"](table)) / 2)
    assert both["sum"](table).tolist() == table[0].tolist()


def test_membership_of_a_target_does_not_touch_its_scores(rng):
    """Also not where a combination is learnt once for several targets."""
    member = rng.random((250, 9)) < 0.5
    value = rng.normal(size=(3, 250, 9)) + member * np.array([0.8, 0.4, 0.0])[:, None, None]
    found = combined(evidence(value, member), metrics=("auc", "tpr@0.01"))
    for column in (1, 8):
        flipped = member.copy()
        flipped[:, column] = rng.permutation(~member[:, column])
        again = combined(evidence(value, flipped), metrics=("auc", "tpr@0.01"))
        for metric in ("auc", "tpr@0.01"):
            pairs = [(found.score, again.score), (found.baseline, again.baseline), (found.forced, again.forced)]
            for was, now in pairs:
                mine = was[metric].unit == column
                assert (was[metric].score[mine] == now[metric].score[mine]).all()


def test_the_order_of_records_does_not_matter(rng):
    member = rng.random((300, 9)) < 0.5
    value = rng.normal(size=(2, 300, 9)) + member
    order = rng.permutation(300)
    straight = combined(evidence(value, member)).score["auc"]
    moved = combined(evidence(value[:, order], member[order])).score["auc"]
    assert mean(moved) == pytest.approx(mean(straight), abs=2e-3)


def test_what_a_shadow_model_is_judged_by_is_what_a_target_would_be(rng):
    """The table of a shadow model with itself left out is that of a target judged by the others."""
    member = rng.random((200, 8)) < 0.5
    value = rng.normal(size=(3, 200, 8)) + member
    _, every = target_and_shadows(np.concatenate([value[:, :, :1], value], axis=2), np.hstack([member[:, :1], member]))
    lens = choose_lens(every, (np.array([1, 3, 5]),), TUNING)
    rest = np.arange(8) != 4
    whole = Reading.of(lens, every, without(np.array([4]), 8))
    fewer = Reading.of(lens, every.models(rest), np.ones((1, 7), dtype=bool))
    seen = np.ones(200, dtype=bool)
    shadow = whole.table(0, value[:, :, 4], seen)
    np.testing.assert_allclose(shadow, fewer.table(0, value[:, :, 4], seen), atol=1e-9)


def test_a_baseline_that_is_known_is_not_learnt_again(rng):
    mine = shadows(rng)
    first = learn(mine, 1, ("auc",), TUNING)
    value = mine.value.copy()
    value[1] = rng.normal(size=value[1].shape)
    other = Shadows(value, mine.observed, mine.member)
    again = learn(other, 1, ("auc",), TUNING, first)
    assert again.baseline is first.baseline
    fresh = learn(other, 1, ("auc",), TUNING)
    assert again.ways == fresh.ways
    assert again.helps == fresh.helps


@pytest.mark.parametrize(
    ("gained", "used"), [([0.001, 0.002, 0.003], True), ([-0.01, 0.011, 0.0], False), ([0.0], False)]
)
def test_a_gain_within_its_standard_error_is_taken_for_none(gained, used):
    assert _clearly_above_zero(np.array(gained)) is used


def test_candidates_compared_together_are_compared_as_one_by_one():
    rng = np.random.default_rng(0)
    for members, others in ((400, 700), (3, 5), (1200, 400)):
        truth = rng.permutation(np.repeat([True, False], [members, others]))
        scores = rng.normal(size=(4, len(truth))) + truth
        scores[2] = np.round(scores[2])  # ties
        metrics = ("auc", "balanced_accuracy", "tpr@0.01", "tpr@0.001", "tnr@0.01", "tnr@0.5")
        found = criteria_of(scores, truth, metrics)
        np.testing.assert_allclose(found, [criteria(score, truth, metrics) for score in scores], rtol=1e-12)


def only_the_refused(seed, records=1000, models=12):
    """Whether the refused were refused rightly; members are mostly decided about as they should be, so seldom seen."""
    rng = np.random.default_rng(seed)
    good = rng.random(records) < 0.7
    quality = rng.normal(size=(records, 1))
    member = rng.random((records, models)) < 0.5
    pull = np.where(good, 1.0, -1.0)[:, None]
    refused = quality + (0.4 + 2 * member) * pull + 0.3 * rng.normal(size=member.shape) < -1
    return (refused & ~good[:, None]).astype(float)[None], refused[None], member


@pytest.mark.parametrize("seed", [0, 5])
def test_shadow_models_are_judged_like_targets_where_membership_decides_who_is_seen(seed):
    # Rules learnt on records about which in- and out-models answered reached .57 to .73 on targets.
    value, seen, member = only_the_refused(seed)
    targets = [Target(value[:, :, t], seen[:, :, t]) for t in range(4)]
    mine = Shadows(value[:, :, 4:], seen[:, :, 4:], member[:, 4:])
    learnt = learn(mine, 1, ("auc",), TUNING)
    found = learnt.apply(targets, mine, np.ones((4, 8), dtype=bool))
    reached = []
    for t, each in enumerate(found):
        rows = seen[0, :, t]
        reached.append(auc(each["auc"].score[rows], member[rows, t]))
    assert min(reached) > 0.8
    assert learnt.baseline.tried is not None
    best = max(learnt.baseline.tried.reached["auc"].values())
    assert best == pytest.approx(np.mean(reached), abs=0.04)


def test_records_that_no_other_model_trained_on_are_not_judged(rng):
    mine = shadows(rng)
    member = mine.member.copy()
    member[:50] = False
    member[50] = np.arange(14) == 3
    rows = _judged(Shadows(mine.value, mine.observed, member))(3)
    assert not rows[:51].any()
    assert rows[51:].mean() > 0.99
