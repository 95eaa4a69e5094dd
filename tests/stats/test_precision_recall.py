from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics

from jali.core.guesses import Guesses
from jali.stats import precision_recall, roc
from jali.stats.intervals import contrast, estimate

ORACLES = {
    "accuracy": metrics.accuracy_score,
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
    "f1": metrics.f1_score,
    "balanced_accuracy_of_claims": metrics.balanced_accuracy_score,
    "base_rate": lambda truth, _: truth.mean(),
    "precision_over_base_rate": lambda truth, claim: metrics.precision_score(truth, claim) - truth.mean(),
    "specificity": lambda truth, claim: metrics.recall_score(~truth, ~claim),
}


def drawn(seed, n=300, shift=0.7):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.7
    return rng.normal(size=n) + shift * truth, truth


@pytest.mark.parametrize("name", precision_recall.NAMES)
def test_numbers_are_those_of_scikit_learn(name):
    score, truth = drawn(0)
    assert roc.metric(name)(score, truth) == pytest.approx(ORACLES[name](truth, score > 0))


@pytest.mark.parametrize("name", precision_recall.NAMES)
def test_an_effect_is_what_leaving_a_guess_out_changes(name):
    score, truth = drawn(1, n=2000)
    whole, effect = precision_recall.decided(name, score, truth), precision_recall.effects(name, score, truth)
    assert effect.sum() == pytest.approx(0, abs=1e-12)
    for i in range(0, 2000, 97):
        rest = np.delete(np.arange(2000), i)
        assert whole - precision_recall.decided(name, score[rest], truth[rest]) == pytest.approx(
            effect[i], rel=0.01, abs=1e-12
        )


def test_who_claims_nobody_is_right_about_nothing():
    score, truth = -np.ones(6), np.array([True, False] * 3)
    assert [precision_recall.decided(n, score, truth) for n in ("precision", "recall", "f1", "specificity")] == [
        0,
        0,
        0,
        1,
    ]


@pytest.mark.parametrize("units", [1, 8])
@pytest.mark.parametrize("name", ["precision", "recall", "f1", "precision_over_base_rate"])
def test_intervals_cover(name, units):
    # Phi(.7) of the members and one half of the others are claimed; 70 % are members.
    recall, claimed = 0.7580, 0.7 * 0.7580 + 0.3 * 0.5
    precision = 0.7 * recall / claimed
    truths = {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall),
        "precision_over_base_rate": precision - 0.7,
    }
    inside = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        truth = np.arange(units * 200) % 10 < 7  # the game settles how many are members
        score = rng.normal(size=len(truth)) + 0.7 * truth
        guesses = Guesses(score, truth, np.arange(len(truth)) // 200, np.arange(len(truth)))
        found = estimate(name, guesses, rng)[0]
        inside += found.low <= truths[name] <= found.high
    assert inside >= 52  # 95 % of 60 are 57; fewer than 52 happen once in 70 times at most


def test_differences_are_paired():
    score, truth = drawn(2)
    guesses = Guesses(score, truth, np.zeros(300, int), np.arange(300))
    bolder = Guesses(score + 0.5, truth, guesses.unit, guesses.record)
    found = contrast("recall", bolder, guesses, np.random.default_rng(0))[0]
    assert 0 < found.low < found.value < found.high


def test_shares_have_no_chance_level_and_a_lift_has():
    assert roc.chance("precision_over_base_rate") == 0
    assert roc.chance("balanced_accuracy_of_claims") == 0.5
    with pytest.raises(Exception, match="no fixed chance level"):
        roc.chance("recall")
