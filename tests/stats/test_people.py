from __future__ import annotations

import numpy as np
import pytest

from jali.core.guesses import Guesses
from jali.core.values import Bools, Floats, Ints
from jali.stats import intervals
from jali.stats.delong import delong, delong_difference
from jali.stats.one_model import banded, bootstrap
from jali.stats.people import people, trials, variance
from jali.stats.roc import auc, balanced_accuracy, halves


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def clustered(draw: np.random.Generator, persons: int, rows: int, shift: float = 0.5) -> tuple[Floats, Bools, Ints]:
    """Scores, truth and person of `rows` rows each; nine tenths of the noise are common to a person's rows."""
    person = np.repeat(np.arange(persons), rows)
    truth = person % 2 == 0
    noise = np.sqrt(0.9) * draw.normal(size=persons)[person] + np.sqrt(0.1) * draw.normal(size=len(person))
    return noise + shift * truth, truth, person


def obuchowski(score: Floats, truth: Bools, group: Ints) -> float:
    """The variance of Obuchowski (1997), by loops over pairs and clusters."""
    x, y = score[truth], score[~truth]
    kernel = (x[:, None] > y) + 0.5 * (x[:, None] == y)
    value, m, n = kernel.mean(), len(x), len(y)
    of_x, of_y = kernel.mean(axis=1), kernel.mean(axis=0)
    everyone = np.unique(group)
    a = np.array([(of_x[group[truth] == i] - value).sum() for i in everyone])
    b = np.array([(of_y[group[~truth] == i] - value).sum() for i in everyone])
    i10, i01, i = len(np.unique(group[truth])), len(np.unique(group[~truth])), len(everyone)
    s10 = i10 / ((i10 - 1) * m) * (a**2).sum()
    s01 = i01 / ((i01 - 1) * n) * (b**2).sum()
    s11 = i / (i - 1) * (a * b).sum()
    return s10 / m + s01 / n + 2 * s11 / (m * n)


@pytest.mark.parametrize("mixed", [False, True])
def test_delong_of_people_against_obuchowski(mixed: bool):
    score, truth, person = clustered(rng(), 24, 4)
    truth = np.arange(len(truth)) % 3 == 0 if mixed else truth
    got = delong(score.round(1), truth, 0.9, person)
    half = 1.6448536 * np.sqrt(obuchowski(score.round(1), truth, person))
    assert got.high - got.value == pytest.approx(half, rel=1e-6)


def test_delong_of_people_by_hand():
    """Members' rows 3, 3 | 1, 1 and others' 2, 2 | 0, 0: placements 1, 1, .5, .5 and .5, .5, 1, 1; AUC 3/4.

    Sums of (placement - AUC) / 4 by person: ± 1/8 twice on both sides; each side has 2 / (2 - 1) * 2 / 64 = 1/16.
    """
    score = np.array([3.0, 3, 1, 1, 2, 2, 0, 0])
    truth, person = np.arange(8) < 4, np.arange(8) // 2
    got = delong(score, truth, group=person)
    assert got.value == 0.75
    assert got.low == pytest.approx(0.75 - 1.959964 * np.sqrt(1 / 16 + 1 / 16), abs=1e-6)


def test_separated_people_are_counted_once():
    """Four members and six others with five rows each: 4 pairs of people, not 20 pairs of rows."""
    person = np.repeat(np.arange(10), 5)
    got = delong(np.where(person < 4, 1.0, 0.0), person < 4, group=person)
    assert got.low == pytest.approx(0.025 ** (1 / 4))


def test_rows_of_their_own_change_nothing():
    score, truth, _ = clustered(rng(), 400, 1)
    unit = np.zeros(400, dtype=int)
    plain = Guesses(score, truth, unit, np.arange(400))
    named = Guesses(score, truth, unit, np.arange(400), np.arange(400)[::-1])
    for metric in ("auc", "balanced_accuracy", "recall"):
        a, b = (intervals.estimate(metric, g, rng()) for g in (plain, named))
        assert a[1] == b[1]
        assert (a[0].value, a[0].low, a[0].high) == pytest.approx((b[0].value, b[0].low, b[0].high))
    assert delong(score, truth) == delong(score, truth, group=np.arange(400))
    assert banded(score, truth, 0.05, 0.95) == banded(score, truth, 0.05, 0.95, np.arange(400))
    assert np.array_equal(halves(truth), halves(truth, np.arange(400)))


def test_people_are_redrawn_whole():
    """Every draw holds each person's two rows together, and as many people of each kind as there are."""
    truth, person = np.arange(12) < 6, np.arange(12) // 2
    seen = []

    def metric(p: Floats, truth: Bools) -> float:
        counts = np.bincount(p.astype(int), minlength=6)
        seen.append((counts % 2 == 0).all() and counts[:3].sum() == 6 == truth.sum())
        return 0.0

    bootstrap(metric, (person.astype(float),), truth, rng(), draws=20, group=person)
    assert all(seen)


def test_a_person_stays_in_one_half():
    _, truth, person = clustered(rng(), 40, 5)
    half = halves(truth, person)
    assert all(len(np.unique(half[person == i])) == 1 for i in range(40))
    assert half[truth].mean() == half[~truth].mean() == 0.5


def test_balanced_accuracy_of_people_without_a_leak_is_a_half():
    """With the rows of a person on both sides of the halves it is .53."""
    draw = np.random.default_rng(5)
    apart, split = [], []
    for _ in range(150):
        score, truth, person = clustered(draw, 60, 5, 0.0)
        apart.append(balanced_accuracy(score, truth, group=person))
        split.append(balanced_accuracy(score, truth))
    assert np.mean(apart) == pytest.approx(0.5, abs=0.012)
    assert np.mean(split) > 0.52


def test_the_gate_counts_people():
    score, truth, person = clustered(rng(), 400, 2)
    guesses = Guesses(score, truth, 0 * person, np.arange(800), person)
    reason = intervals.estimate("tpr@0.01", guesses, rng())[0].reason
    assert reason == "FPR 1 % needs at least 299 people who are non-members; there are 200."
    rows = Guesses(score, truth, 0 * person, np.arange(800))
    assert intervals.estimate("tpr@0.01", rows, rng())[0].value is not None


@pytest.mark.parametrize("metric", ["tpr@0.01", "tnr@0.01"])
@pytest.mark.parametrize("units", [2, 4])
def test_a_rate_of_zero_has_the_limit_of_its_people(metric: str, units: int):
    """300 members and 300 others with two rows each, the same under every target: 300 trials."""
    person = np.tile(np.arange(600).repeat(2), units)
    truth = person % 2 == 0
    score = np.where(truth, 0.0, 1.0)
    unit = np.repeat(np.arange(units), 1200)
    got, _ = intervals.estimate(metric, Guesses(score, truth, unit, np.tile(np.arange(1200), units), person), rng())
    assert (got.value, got.low) == (0.0, 0.0)
    assert got.high == pytest.approx(1 - 0.025 ** (1 / 300))


def test_trials_follow_the_design_effect():
    draw, person = rng(), np.repeat(np.arange(400), 5)
    together = (draw.random(400) < 0.3)[person]
    apart = draw.random(2000) < 0.3
    assert trials(together, person) == pytest.approx(400, rel=0.01)
    assert trials(apart, person) == pytest.approx(2000, rel=0.15)
    assert trials(np.zeros(2000, dtype=bool), person) == 400
    assert people(person, np.ones(2000)) == people(person) == 400


def test_variance_of_equal_rows_is_that_of_people():
    draw, truth = rng(), np.arange(60) < 30
    effect = draw.normal(size=60)
    repeated = variance(np.repeat(effect, 3) / 3, np.repeat(truth, 3), np.repeat(np.arange(60), 3))
    assert repeated == pytest.approx(variance(effect, truth, np.arange(60)))


# --- simulated coverage, five rows a person ---------------------------------------------------------------------


def test_five_rows_a_person_are_covered_under_one_target():
    """As rows of their own, the AUC covers 64 % and the difference 63 % (2,000 draws)."""
    draw, hits, as_rows = np.random.default_rng(6), [], []
    values = []
    for _ in range(400):
        score, truth, person = clustered(draw, 80, 5)
        more = score + 0.5 * draw.normal(size=80)[person] + 0.3 * truth
        one, two = delong(score, truth, group=person), delong_difference(more, score, truth, group=person)
        values.append((one.value, two.value))
        hits.append((one.low, one.high, two.low, two.high))
        rows = delong(score, truth)
        as_rows.append((rows.low, rows.high))
    true, ends = np.mean(values, axis=0), np.array(hits)
    low, high = np.array(as_rows).T
    assert np.mean((low <= true[0]) & (true[0] <= high)) == pytest.approx(0.64, abs=0.07)
    assert np.mean((ends[:, 0] <= true[0]) & (true[0] <= ends[:, 1])) >= 0.92
    assert np.mean((ends[:, 2] <= true[1]) & (true[1] <= ends[:, 3])) >= 0.92


def test_a_rate_of_people_is_covered_under_one_target():
    """TPR at 5 % of 5 rows each; as rows of their own it covers 80 %."""
    from scipy.special import ndtr, ndtri

    draw, hits = np.random.default_rng(7), 0
    true = ndtr(1.0 + ndtri(0.05))
    for _ in range(200):
        score, truth, person = clustered(draw, 300, 5, 1.0)
        low, high = banded(score, truth, 0.05, 0.95, person)
        hits += low <= true <= high
    assert hits >= 0.92 * 200
    assert auc(score, truth) > 0.5
