"""Equal scores drawn by lot: a score with few values is not made stronger by noise."""

import numpy as np
import pytest

from jali.attacks.joint import Joint
from jali.audit.lots import by_lot
from jali.audit.trials import Trial, contrast_rows, guess_by_metric, paired_rows, rows_of
from jali.core.guesses import Guesses
from jali.core.values import Channel, Evidence, Game, SignalName, Unit


def guesses(score, truth, unit=None):
    unit = np.zeros(len(score), dtype=np.int64) if unit is None else unit
    return Guesses(np.asarray(score, dtype=np.float64), truth, unit, np.arange(len(score)))


def test_only_rates_with_equal_scores_are_drawn():
    truth = np.arange(6) % 2 == 0
    tied = guesses([1, 1, 0, 0, 2, 2], truth)
    drawn = by_lot({"auc": tied, "tpr@0.01": tied, "tnr@0.01": tied})
    assert drawn["auc"] is tied
    assert drawn["tpr@0.01"] is drawn["tnr@0.01"]
    assert sorted(drawn["tpr@0.01"].score.tolist()) == [0, 1, 2, 3, 4, 5]
    different = guesses([3, 1, 0, 5, 2, 4], truth)
    assert by_lot({"tpr@0.01": different})["tpr@0.01"] is different


def test_lots_keep_the_order_of_scores_and_know_nothing_of_membership():
    rng = np.random.default_rng(0)
    score = rng.integers(0, 4, 400).astype(np.float64)
    truth = rng.random(400) < 0.5
    drawn = by_lot({"tpr@0.01": guesses(score, truth)})["tpr@0.01"].score
    order = np.argsort(drawn)
    assert np.all(np.diff(score[order]) >= 0)
    np.testing.assert_array_equal(by_lot({"tpr@0.01": guesses(score, ~truth)})["tpr@0.01"].score, drawn)


def test_targets_draw_lots_of_their_own_and_one_without_equal_scores_keeps_its_own():
    score = np.array([0.0, 0, 0, 0, 0.3, 0.1, 0.2, 0.4, 0, 0, 0, 0])
    unit = np.repeat([0, 1, 2], 4)
    drawn = by_lot({"tpr@0.01": guesses(score, np.arange(12) % 2 == 0, unit)})["tpr@0.01"].score.reshape(3, 4)
    np.testing.assert_array_equal(drawn[1], score[4:8])
    assert drawn[0].tolist() != drawn[2].tolist()


def decision_and_noise(seed, people=3000, models=6):
    """Members are always right, others in seven of ten; beside it a column of noise."""
    rng = np.random.default_rng(seed)
    member = rng.random((people, models)) < 0.5
    easy = rng.random((people, 1)) < 0.6
    right = easy | (rng.random((people, models)) < np.where(member, 1.0, 0.7))
    noise = rng.normal(0, 2, (people, 1)) + rng.normal(size=(people, models))
    value = np.stack([right.astype(np.float64), noise])
    names = (SignalName("correctness"), SignalName("column", "e"))
    evidence = Evidence(names, value, np.ones(value.shape, bool), member, (Unit.YES_NO, Unit.PLAIN))
    others = ~np.eye(models, dtype=bool)
    return evidence, Game(member, np.arange(models), others, np.ones((people, models), dtype=bool))


def test_noise_beside_a_decision_does_not_seem_to_recognise_members():
    rates = ("auc", "tpr@0.01")
    found = []
    before = []
    for seed in range(8):
        evidence, game = decision_and_noise(seed)
        trial = Trial(Joint(), evidence.names, Channel.DECISION_AND_EXPLANATION, "e", Channel.DECISION, 1)
        made = guess_by_metric(evidence, game, trial, metrics=rates)
        rng = np.random.default_rng(0)
        found.append(contrast_rows(trial, made, game, rng)[1])
        own = rows_of(trial, made.forced, game, rng)[1]
        before.append(own.value - rows_of(trial, made.baseline, game, rng)[1].value)
    assert np.mean(before) > 0.002  # equal scores flagged whole or not at all: what was said before
    assert abs(np.mean([row.value for row in found])) < 0.0015
    assert sum(row.low > 0 for row in found) <= 1


def test_both_sides_of_a_difference_are_drawn_alike():
    evidence, game = decision_and_noise(0, people=1000)
    trial = Trial(Joint(), evidence.names, Channel.DECISION_AND_EXPLANATION, "e", Channel.DECISION, 1)
    made = guess_by_metric(evidence, game, trial)
    rng = np.random.default_rng(0)
    rows = rows_of(trial, made.score, game, rng)
    both = paired_rows(trial, rows, made, game, rng)
    assert [row.metric for row in both] == 2 * [row.metric for row in rows]
    apart = {row.metric: row for row in contrast_rows(trial, made, game, rng)}
    for metric in ("auc", "tpr@0.01", "tnr@0.01"):
        with_, without = (row.value for row in both if row.metric == metric)
        if made.used[metric].any():
            assert with_ - without == pytest.approx(apart[metric].value, abs=1e-12)
