from __future__ import annotations

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.core.guesses import Guesses
from jali.core.values import Bools, Floats
from jali.stats import intervals, roc
from jali.stats.delong import delong, delong_difference
from jali.stats.influence import influence
from jali.stats.one_model import banded

METRICS = ("auc", "balanced_accuracy", "tpr@0.01", "tnr@0.01", "tpr@0.1")
SCORE = np.array([4.0, 3.0, 3.0, 2.0, 1.0])
TRUTH = np.array([True, False, True, False, False])
WEIGHT = np.array([1.0, 1.0, 1.0, 2.0, 5.0])


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def sample(n: int = 2000, seed: int = 0) -> tuple[Floats, Bools, Floats]:
    draw = np.random.default_rng(seed)
    truth = draw.random(n) < 0.5
    weight = np.where(truth, 1.0, draw.integers(1, 5, size=n))
    return draw.normal(size=n) + 0.7 * truth, truth, weight


def test_weighted_auc_by_hand():
    """Member 4 is above weights 1 + 2 + 5; member 3 ties with 1 and is above 2 + 5: (8 + 7.5) / (2 * 8)."""
    assert roc.auc(SCORE, TRUTH, WEIGHT) == pytest.approx(15.5 / 16)


def test_weighted_rates_by_hand():
    """Flagging score >= 3 passes weight 1 of 8; flagging 4 passes none."""
    assert roc.tpr_at(SCORE, TRUTH, 1 / 8, WEIGHT) == 1.0
    assert roc.tpr_at(SCORE, TRUTH, 0.12, WEIGHT) == 0.5
    assert roc.tnr_at(SCORE, TRUTH, 0.0, WEIGHT) == pytest.approx(7 / 8)
    assert roc.tnr_at(SCORE, TRUTH, 0.5, WEIGHT) == 1.0
    assert roc.best_balanced_accuracy(SCORE, TRUTH, WEIGHT) == pytest.approx((1 + 7 / 8) / 2)


@pytest.mark.parametrize("metric", [m for m in METRICS if m != "balanced_accuracy"])
def test_a_whole_weight_is_that_many_copies(metric: str):
    score, truth, weight = sample()
    copies = np.repeat(np.arange(len(score)), weight.astype(int))
    weighted = roc.weighable(metric)(score, truth, weight=weight)
    assert weighted == pytest.approx(roc.metric(metric)(score[copies], truth[copies]))
    one = influence(metric, score, truth, weight)
    each = np.bincount(copies, weights=influence(metric, score[copies], truth[copies]))
    np.testing.assert_allclose(one, each, atol=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_equal_weights_change_nothing(metric: str):
    score, truth, _ = sample()
    same = roc.weighable(metric)(score, truth, weight=np.ones(len(score)))
    assert same == pytest.approx(roc.metric(metric)(score, truth))
    scaled = roc.weighable(metric)(score, truth, weight=np.where(truth, 3.0, 0.2))
    assert scaled == pytest.approx(same)
    plain = influence(metric, score, truth)
    np.testing.assert_allclose(influence(metric, score, truth, np.full(len(score), 3.0)), plain, atol=1e-12)
    np.testing.assert_allclose(
        banded(score, truth, 0.05, 0.95, None, np.ones(len(score))), banded(score, truth, 0.05, 0.95)
    )


def test_guesses_of_weight_one_are_unweighted():
    score, truth, weight = sample()
    unit = np.zeros(len(score), dtype=int)
    plain, ones = (
        Guesses(score, truth, unit, np.arange(2000)),
        Guesses(score, truth, unit, np.arange(2000), weight=np.ones(2000)),
    )
    assert plain.weights is None
    for metric in METRICS:
        assert intervals.estimate(metric, plain, rng()) == intervals.estimate(metric, ones, rng())
    heavy = Guesses(score, truth, unit, np.arange(2000), weight=weight)
    assert heavy.pick(truth).weights is None
    np.testing.assert_array_equal(heavy.pick(~truth).weights, weight[~truth])


@pytest.mark.parametrize("units", [1, 4])
@pytest.mark.parametrize("metric", METRICS)
def test_weights_reach_every_estimate(metric: str, units: int):
    score, truth, weight = sample(2000 * units)
    unit, record = np.arange(2000 * units) % units, np.arange(2000 * units)
    guesses = Guesses(score, truth, unit, record, weight=weight)
    got, _ = intervals.estimate(metric, guesses, rng())
    parts = [unit == u for u in range(units)]
    expected = np.mean([roc.weighable(metric)(score[p], truth[p], weight=weight[p]) for p in parts])
    assert got.value == pytest.approx(expected)
    assert got.low < got.value < got.high
    more = Guesses(score + 0.5 * truth, truth, unit, record, weight=weight)
    gain = intervals.contrast(metric, more, guesses, rng())[0]
    assert gain.value == pytest.approx(intervals.estimate(metric, more, rng())[0].value - got.value)
    assert gain.low > 0


def test_weights_must_be_the_same_on_both_sides_of_a_difference():
    score, truth, weight = sample(50)
    a, b = (Guesses(score, truth, 0 * truth, np.arange(50), weight=w) for w in (weight, weight + 1))
    with pytest.raises(JaliError, match="weight differs"):
        intervals.contrast("auc", a, b, rng())


def test_wrong_weights_are_refused():
    for wrong in (-1.0, np.nan, np.inf):
        with pytest.raises(JaliError, match="weights of guesses must be finite"):
            Guesses([1.0], [True], [0], [0], weight=[wrong])
    with pytest.raises(JaliError, match="weight must have shape"):
        Guesses([1.0], [True], [0], [0], weight=[1.0, 2.0])


def test_counts_of_flagged_records_have_no_weights():
    score, truth, weight = sample(100)
    with pytest.raises(JaliError, match="precision depends on how many records are flagged"):
        intervals.estimate("precision", Guesses(score, truth, 0 * truth, np.arange(100), weight=weight), rng())


def test_the_gate_counts_the_effective_number_of_people():
    """400 non-members, of whom 100 have weight 9 and 300 weight 1: (900 + 300)^2 / (8100 + 300) = 171."""
    truth = np.arange(800) < 400
    weight = np.where(truth, 1.0, np.where(np.arange(800) % 4 == 0, 9.0, 1.0))
    guesses = Guesses(rng().normal(size=800), truth, 0 * truth, np.arange(800), weight=weight)
    reason = intervals.estimate("tpr@0.01", guesses, rng())[0].reason
    assert reason == "FPR 1 % needs at least 299 non-members; there are 400, whose weights count for 171."
    assert intervals.estimate("tnr@0.01", guesses, rng())[0].value is not None


def test_weighted_intervals_cover():
    """Non-members drawn with twice the chance on one side of the scores, and weighted back: AUC, gain, TPR at 5 %."""
    from scipy.special import ndtr, ndtri

    draw, truth = np.random.default_rng(2), np.arange(1200) < 600
    true, rate = ndtr(0.5 / np.sqrt(2)), ndtr(0.5 + ndtri(0.05))
    found = []
    for _ in range(300):
        pool = draw.normal(size=1800)
        kept = pool[draw.random(1800) < np.where(pool > 0, 1.0, 0.5)][:600]
        score = np.r_[draw.normal(size=600) + 0.5, kept]
        weight = np.where(truth | (score > 0), 1.0, 2.0)
        one = delong(score, truth, weight=weight)
        zero = delong_difference(score + draw.normal(size=1200), score + draw.normal(size=1200), truth, weight=weight)
        low, high = banded(score, truth, 0.05, 0.95, None, weight)
        found.append((one.low <= true <= one.high, zero.low <= 0 <= zero.high, low <= rate <= high))
    assert (np.mean(found, axis=0) >= 0.92).all()
    assert delong(score, truth).high < true
