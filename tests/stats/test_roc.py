from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score, roc_curve

from jali.core.errors import JaliError
from jali.core.values import Bools, Floats
from jali.stats import roc

Sample = tuple[Floats, Bools]


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    """A few guesses with many ties and both classes."""
    pairs = draw(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=0, max_size=40))
    score = np.array([s for s, _ in pairs] + [draw(st.integers(-3, 3)), draw(st.integers(-3, 3))], dtype=float)
    return score, np.array([t for _, t in pairs] + [True, False])


def brute_tpr(score: Floats, truth: Bools, alpha: float) -> float:
    """Try every rule score >= c, keep those within the allowed number of false positives."""
    allowed = alpha * (~truth).sum() + 1e-9
    rules = [score >= c for c in [*score, np.inf]]
    return float(max((flag & truth).sum() for flag in rules if (flag & ~truth).sum() <= allowed) / truth.sum())


def normal(n: int, shift: float, seed: int = 0) -> Sample:
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.5
    return rng.normal(size=n) + shift * truth, truth


def test_by_hand():
    score, truth = np.array([0.9, 0.8, 0.8, 0.4, 0.1]), np.array([1, 1, 0, 1, 0], dtype=bool)
    curve = roc.roc(score, truth)
    np.testing.assert_allclose(curve.fpr, [0, 0, 0.5, 0.5, 1])
    np.testing.assert_allclose(curve.tpr, [0, 1 / 3, 2 / 3, 1, 1])
    np.testing.assert_array_equal(curve.thresholds, [np.inf, 0.9, 0.8, 0.4, 0.1])
    assert roc.auc(score, truth) == pytest.approx((2 + 1.5 + 1) / 6)
    assert roc.tpr_at(score, truth, 0.49) == pytest.approx(1 / 3)
    assert roc.tpr_at(score, truth, 0.5) == 1.0
    assert roc.tnr_at(score, truth, 0.0) == 0.5
    assert roc.best_balanced_accuracy(score, truth) == pytest.approx(0.75)


def test_against_sklearn():
    score, truth = normal(3000, 0.7)
    score = score.round(1)
    curve = roc.roc(score, truth)
    fpr, tpr, thresholds = roc_curve(truth, score, drop_intermediate=False)
    np.testing.assert_allclose(curve.fpr, fpr)
    np.testing.assert_allclose(curve.tpr, tpr)
    np.testing.assert_array_equal(curve.thresholds, thresholds)
    assert roc.auc(score, truth) == pytest.approx(roc_auc_score(truth, score))
    assert roc.best_balanced_accuracy(score, truth) == pytest.approx((1 + (tpr - fpr).max()) / 2)


@given(samples(), st.floats(0, 1))
def test_rates_against_brute_force(sample: Sample, alpha: float):
    score, truth = sample
    assert roc.tpr_at(score, truth, alpha) == pytest.approx(brute_tpr(score, truth, alpha))
    assert roc.tnr_at(score, truth, alpha) == pytest.approx(brute_tpr(-score, ~truth, alpha))


@given(samples())
def test_symmetries(sample: Sample):
    score, truth = sample
    assert roc.auc(-score, truth) == pytest.approx(1 - roc.auc(score, truth))
    assert roc.auc(score, truth) == pytest.approx(roc_auc_score(truth, score))
    assert roc.best_balanced_accuracy(score, truth) == pytest.approx(roc.best_balanced_accuracy(-score, ~truth))
    for metric in roc.METRICS.values():
        assert metric(score, truth) == metric(3 * score - 7, truth)
        assert 0 <= metric(score, truth) <= 1


@given(samples())
@settings(max_examples=25)
def test_curve_is_tpr_at_on_a_grid(sample: Sample):
    grid = np.linspace(0, 1, 21)
    expected = [roc.tpr_at(*sample, alpha) for alpha in grid]
    np.testing.assert_array_equal(roc.tpr_curve(*sample, grid), expected)


@pytest.mark.parametrize("n", [100, 200, 300, 700, 1000, 2995])
def test_whole_counts_survive_floating_point(n: int):
    """With one member just below the k best non-members, FPR k/n reaches it for every k, (k-1)/n never does."""
    for k in range(1, 60):
        score = np.append(n - k - 0.5, np.arange(n, dtype=float))
        truth = np.arange(n + 1) == 0
        assert roc.tpr_at(score, truth, k / n) == 1.0
        assert roc.tpr_at(score, truth, (k - 1) / n) == 0.0
        assert roc.tpr_at(score, truth, k * (1 / n)) == 1.0


def test_a_planted_tail_has_the_right_side():
    """Five members in a hundred are obvious: TPR at low FPR sees them, its mirror image does not."""
    score, truth = normal(20_000, 0.0)
    exposed = truth & (np.random.default_rng(1).random(len(truth)) < 0.05)
    score = score + 10 * exposed
    assert roc.tpr_at(score, truth, 0.001) == pytest.approx(0.05, abs=0.01)
    assert roc.tnr_at(score, truth, 0.001) < 0.005
    assert roc.tnr_at(-score, ~truth, 0.001) == roc.tpr_at(score, truth, 0.001)


def test_constant_scores_say_nothing():
    score, truth = np.zeros(10), np.arange(10) < 5
    assert [metric(score, truth) for metric in roc.METRICS.values()] == [0.5, 0.5, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("score", "truth", "says"),
    [
        ([1.0, 2.0], [True, True], "2 of 2"),
        ([1.0, 2.0], [False, False], "0 of 2"),
        ([], [], "0 of 0"),
        ([1.0, 2.0], [True], "one length"),
        ([1.0, np.nan], [True, False], "NaN"),
    ],
)
def test_errors_say_what_is_wrong(score: list[float], truth: list[bool], says: str):
    with pytest.raises(JaliError, match=says):
        roc.auc(np.array(score), np.array(truth))


def test_negative_alpha_is_an_error():
    with pytest.raises(JaliError, match="at least 0"):
        roc.tpr_at(np.array([1.0, 0.0]), np.array([True, False]), -0.1)


@pytest.mark.parametrize(("alpha", "needed"), [("0.01", 299), ("0.001", 2995)])
def test_gate(alpha: str, needed: int):
    truth = np.arange(needed + 5) < 5
    assert roc.resolvable(f"tpr@{alpha}", truth) == ""
    assert f"{needed:,} non-members; there are {needed - 1:,}" in roc.resolvable(f"tpr@{alpha}", truth[:-1])
    assert roc.resolvable(f"tnr@{alpha}", ~truth) == ""
    assert f"{needed:,} members; there are 5" in roc.resolvable(f"tnr@{alpha}", truth)
    assert roc.resolvable("auc", truth) == "" == roc.resolvable("balanced_accuracy", truth)
    assert "both needed" in roc.resolvable("auc", truth[:5])


def test_unknown_metric():
    with pytest.raises(JaliError, match="there are auc"):
        roc.resolvable("accuracies", np.array([True, False]))


def test_read_only_arrays_are_ranked_and_not_compared_pair_by_pair():
    score, truth = normal(20_000, 0.5)
    score.setflags(write=False)
    truth.setflags(write=False)
    tracemalloc.start()
    roc.auc(score, truth)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * score.nbytes  # all pairs would take thousands of times as much


def test_balanced_accuracy_by_hand():
    score = np.array([9.0, 8.0, 3.0, 7.0, 2.0, 1.0])
    truth = np.array([True, True, True, False, False, False])
    # Halves {9, 3 | 7, 1} and {8 | 2}: inside the first the best cut is between 9 and 7, which misses 8 and clears 2;
    # inside the second it is between 8 and 2, which flags 9, misses none of {9, 3} but 3 > 5 is false, and flags 7.
    assert roc.balanced_accuracy(score, truth) == pytest.approx((0.5 * (1.0 + 1.0) + 0.5 * (0.5 + 0.5)) / 2)


def test_balanced_accuracy_of_noise_is_one_half():
    draw = np.random.default_rng(0)
    truth = np.arange(400) % 2 == 0
    held, best = [], []
    for _ in range(400):
        score = draw.normal(size=400)
        held.append(roc.balanced_accuracy(score, truth))
        best.append(roc.best_balanced_accuracy(score, truth))
    assert abs(np.mean(held) - 0.5) < 4 * np.std(held) / 20
    assert np.mean(best) > 0.52


def test_balanced_accuracy_finds_a_leak_and_ties_give_a_coin():
    draw = np.random.default_rng(0)
    truth = draw.random(2000) < 0.5
    score = truth + draw.normal(size=2000)
    assert roc.balanced_accuracy(score, truth) == pytest.approx(0.69, abs=0.03)  # Phi(1/2)
    assert roc.balanced_accuracy(np.zeros(2000), truth) == 0.5


@given(samples(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_halves_are_judged_alike_in_any_order(sample: Sample, random):
    """Against a loop over thresholds: the best one inside a half, applied outside it."""
    score, truth = sample
    half = roc.halves(truth)
    if min(np.count_nonzero(side & mine) for side in (half, ~half) for mine in (truth, ~truth)) == 0:
        return
    order = np.array(random.sample(range(len(score)), len(score)))
    found = roc.crossed_accuracy(score, truth, half)
    assert roc.crossed_accuracy(score[order], truth[order], half[order]) == found
    assert found == pytest.approx((_applied(score, truth, half) + _applied(score, truth, ~half)) / 2, abs=1e-12)


def _applied(score: Floats, truth: Bools, half: Bools) -> float:
    """Balanced accuracy outside a half at the highest of the thresholds that are best inside, or just below it."""
    levels = [np.inf, *sorted(set(score[half].tolist()), reverse=True)]
    reached = [((score >= t) & half & truth).sum() / (half & truth).sum() for t in levels]
    reached -= np.array([((score >= t) & half & ~truth).sum() / (half & ~truth).sum() for t in levels])
    cut = int(np.argmax(reached))
    below = levels[cut + 1] if cut + 1 < len(levels) else levels[cut]
    threshold = levels[cut] if np.isinf(levels[cut]) else (levels[cut] + below) / 2
    flagged = score > threshold if threshold == below else score >= threshold
    hits = (flagged & ~half & truth).sum() / (~half & truth).sum()
    return (hits + (~flagged & ~half & ~truth).sum() / (~half & ~truth).sum()) / 2
