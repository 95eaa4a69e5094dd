from __future__ import annotations

import numpy as np
import pytest

from jali.audit.propensity import propensity, weighting
from jali.core.errors import JaliError
from jali.core.guesses import Guesses
from jali.stats.intervals import estimate


def shifted(seed: int, n: int = 600, rows: int = 1):
    """People whose first two columns lie half a deviation higher in members, and a score of these columns alone."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(2 * n), rows)
    truth = person < n
    X = rng.normal(size=(2 * n, 4))[person] + 0.2 * rng.normal(size=(len(person), 4))
    X[:, :2] += 0.5 * truth[:, None]
    score = X[:, 0] + 0.5 * X[:, 1] + 0.5 * rng.normal(size=len(person))
    return X, truth, person, score, rng


def judged(score, truth, person, weight):
    unit, record = np.zeros(len(score), dtype=int), np.arange(len(score))
    guesses = Guesses(score, truth, unit, record, person, weight).pick(weight > 0)
    return estimate("auc", guesses, np.random.default_rng(0))[0]


@pytest.mark.parametrize("rows", [1, 3])
def test_a_planted_shift_of_a_null_score_is_weighted_away(rows: int):
    """The raw AUC is .66; five of six weighted intervals or more hold one half, and are at most half as wide again."""
    covered, wider, plain = [], [], []
    for seed in range(6):
        X, truth, person, score, rng = shifted(seed, 300 if rows > 1 else 600, rows)
        found = weighting(propensity(X, truth, person, rng), truth, person)
        raw = judged(score, truth, person, np.ones(len(score)))
        even = judged(score, truth, person, found.weight)
        assert raw.low > 0.55
        plain.append(raw.value)
        assert found.effective < np.count_nonzero(~truth) / rows
        covered.append(even.low <= 0.5 <= even.high)
        wider.append((even.high - even.low) / (raw.high - raw.low))
    assert np.mean(plain) == pytest.approx(0.66, abs=0.02)
    assert sum(covered) >= 5
    assert np.mean(wider) < 1.5


def test_without_a_shift_the_weights_are_near_one_another():
    X, truth, person, _, rng = shifted(3)
    X[:, :2] -= 0.5 * truth[:, None]
    found = weighting(propensity(X, truth, person, rng), truth, person)
    assert found.effective > 450
    assert found.trimmed == (0, 0)


def test_a_person_is_never_judged_by_trees_that_saw_them():
    """Noise that only identifies people says nothing of others."""
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(200), 5)
    truth = person % 2 == 0
    X = rng.normal(size=(200, 3))[person]
    chances = propensity(X, truth, person, rng)
    assert abs(np.mean(chances[truth]) - np.mean(chances[~truth])) < 0.1


def test_what_has_no_counterpart_is_trimmed_and_counted():
    X, truth, person, _, rng = shifted(1)
    X[truth & (np.arange(1200) % 4 == 0), 3] += 20
    found = weighting(propensity(X, truth, person, rng), truth, person)
    assert found.trimmed[0] == pytest.approx(150, abs=10)
    assert found.kept.sum() + sum(found.trimmed) == 1200


def test_too_few_people_for_weights():
    with pytest.raises(JaliError, match="at least 5 people who are members; there are 2"):
        propensity(np.zeros((20, 1)), np.arange(20) < 4, np.arange(20) // 2, np.random.default_rng(0))


def test_a_side_that_is_much_larger_is_no_reason_to_leave_members_out():
    """Ten members to one non-member, without a shift: the propensity of all is .91, and nobody lacks a counterpart."""
    rng = np.random.default_rng(0)
    truth = np.arange(3300) < 3000
    found = weighting(propensity(rng.normal(size=(3300, 3)), truth, np.arange(3300), rng), truth, np.arange(3300))
    assert found.trimmed == (0, 0)
    assert found.effective > 180


def test_what_few_members_have_and_nobody_else_is_left_out_however_many_the_others_are():
    rng = np.random.default_rng(0)
    truth = np.arange(3300) < 300
    X = rng.normal(size=(3300, 3))
    X[:60, 0] += 20
    found = weighting(propensity(X, truth, np.arange(3300), rng), truth, np.arange(3300))
    assert found.trimmed[0] == pytest.approx(60, abs=3)


def test_categories_have_no_order():
    """Fifty categories of unequal frequency, on which a null score depends: as numbers they are balanced less."""
    rng = np.random.default_rng(0)
    truth = np.arange(2000) < 1000
    effect = rng.normal(size=50)
    likely = np.exp(0.5 * effect)
    kind = np.where(truth, rng.choice(50, 2000, p=likely / likely.sum()), rng.integers(0, 50, 2000))
    score = effect[kind] + rng.normal(size=2000)
    rows = kind[:, None].astype(float)
    person = np.arange(2000)
    read = [propensity(rows, truth, person, rng, category=category) for category in ([0], [])]
    even, as_numbers = (judged(score, truth, person, weighting(e, truth, person).weight) for e in read)
    assert judged(score, truth, person, np.ones(2000)).low > 0.55
    assert even.low <= 0.5 <= even.high
    assert as_numbers.value > even.value + 0.01


def test_a_leak_that_a_drift_hides_is_found():
    """Others lie higher in a column with which the score rises: the raw AUC is one half, that of the leak alone .66."""
    found = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        truth = np.arange(2000) < 1000
        X = rng.normal(size=(2000, 3))
        X[:, 0] = np.where(truth, rng.uniform(0, 0.7, 2000), rng.uniform(0.3, 1, 2000))
        score = 2 * X[:, 0] + rng.normal(size=2000) + 0.6 * truth
        raw = judged(score, truth, np.arange(2000), np.ones(2000))
        assert raw.low < 0.52
        made = weighting(propensity(X, truth, np.arange(2000), rng), truth, np.arange(2000))
        found.append(judged(score, truth, np.arange(2000), made.weight))
    assert min(e.low for e in found) > 0.55
    assert np.mean([e.value for e in found]) == pytest.approx(0.66, abs=0.035)
