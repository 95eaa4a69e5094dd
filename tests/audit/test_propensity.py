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
    covered, wider = [], []
    for seed in range(6):
        X, truth, person, score, rng = shifted(seed, 300 if rows > 1 else 600, rows)
        found = weighting(propensity(X, truth, person, rng), truth, person)
        raw = judged(score, truth, person, np.ones(len(score)))
        even = judged(score, truth, person, found.weight)
        assert raw.low > 0.55
        assert found.effective < np.count_nonzero(~truth) / rows
        covered.append(even.low <= 0.5 <= even.high)
        wider.append((even.high - even.low) / (raw.high - raw.low))
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
