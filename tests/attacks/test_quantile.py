"""The attack without shadows: p-values by hand, no leak where there is none, and a leak where a network memorises."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import betabinom

from jali.attacks._conformal import FEWEST, split, surprise
from jali.attacks.directed import Directed
from jali.attacks.quantile import Quantile
from jali.attacks.quantile_joint import QuantileJoint
from jali.core.errors import JaliError
from jali.core.guesses import Records, Target
from jali.parallel import alone
from jali.stats.delong import delong
from jali.stats.intervals import clopper_pearson
from jali.stats.roc import auc

SEEDS = range(3)


def population(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, label and the signal of a model that has seen nobody here: difficulty, unequal spread, noise."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 6))
    y = rng.integers(0, 2, n)
    noise = np.exp(0.5 * x[:, 1]) * rng.normal(size=n)
    return x, y, 2 * x[:, 0] * (2 * y - 1) + noise


def target(x, y, signal, reference, seed: int = 0) -> Target:
    n = len(y)
    lot = np.random.default_rng(seed).permutation(n) / n
    return Target(signal[None], np.ones((1, n), bool), Records(x, y, np.arange(n), lot, reference))


def hits(score: np.ndarray, members: np.ndarray, others: np.ndarray, alpha: float = 0.01) -> int:
    """How many members lie above the score that a share alpha of the others exceeds."""
    limit = np.sort(score[others])[::-1][int(alpha * others.sum())]
    return int((score[members] > limit).sum())


def test_p_values_by_hand():
    calibration = np.array([0.0, 1.0, 2.0, 2.0, 9.0])
    z = np.array([10.0, 9.0, 2.5, 2.0, 0.5, -1.0])
    expected = np.array([1, 2, 2, 4, 5, 6]) / 6  # 1 + how many are at least as large, of 5 + 1
    np.testing.assert_allclose(np.exp(-surprise(z, calibration)), expected, rtol=1e-7)


def test_scores_grow_with_z_even_beyond_everybody_in_the_calibration():
    z = np.r_[np.linspace(-50, 50, 2001), 1e3, 1e6, 1e9, 1e9 + 1e5]
    assert (np.diff(surprise(z, np.random.default_rng(0).normal(size=2000))) > 0).all()


def test_a_share_alpha_of_fresh_people_has_p_below_alpha():
    """Each p-value has a calibration of its own: what is promised holds on average over calibrations."""
    rng = np.random.default_rng(1)
    p = np.exp([-surprise(rng.normal(size=1), rng.normal(size=199))[0] for _ in range(4000)])
    for alpha in (0.01, 0.05, 0.2):
        low, high = clopper_pearson(int((p <= alpha).sum()), len(p))
        assert low <= alpha <= high


@pytest.mark.parametrize("attack", [Quantile(), QuantileJoint()])
def test_the_false_positive_rate_on_fresh_rows_is_the_nominal_one(attack):
    """One calibration of m people: of n fresh ones, Beta-binomial(n, k, m + 1 - k) have p <= k / (m + 1), exactly."""
    fresh, m = 2_000, 999
    x, y, signal = population(5 * m + fresh, 5)
    reference = np.arange(len(y)) < 5 * m
    p = np.exp(-attack.score(target(x, y, signal, reference), None))[~reference]
    for alpha in (0.01, 0.05, 0.1):
        k = round(alpha * (m + 1))
        low, high = betabinom(fresh, k, m + 1 - k).interval(0.99)
        assert low <= (p <= alpha + 1e-6).sum() <= high


def naive(x, y, signal, members, others) -> np.ndarray:
    """The margin over the 99 % quantile learnt on the very non-members that are scored, as some tools do it."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    inputs = np.column_stack([x, y])
    trees = HistGradientBoostingRegressor(loss="quantile", quantile=0.99, early_stopping=False, random_state=0)
    return np.asarray(signal - alone(lambda t: t.fit(inputs[others], signal[others]).predict(inputs), trees))


def test_a_model_that_saw_nobody_shows_no_leak_and_the_naive_variant_does():
    """Two thousand 'members' and as many others whom the model has seen neither of: TPR at 1 % must be 1 %."""
    ours = 0
    theirs = 0
    for seed in SEEDS:
        x, y, signal = population(6_000, seed)
        role = np.arange(6_000) // 2_000
        members, others = role == 0, role == 1
        ours += hits(Quantile().score(target(x, y, signal, role == 2), None), members, others)
        theirs += hits(naive(x, y, signal, members, others), members, others)
    total = 2_000 * len(SEEDS)
    low, high = clopper_pearson(ours, total)
    assert low <= 0.01 <= high
    assert clopper_pearson(theirs, total)[0] > 0.015


@pytest.mark.parametrize("attack", [Quantile(), QuantileJoint()])
def test_difficulty_is_removed(attack):
    """Members are shifted by half a spread; at least half of what mean and spread would add, if known, is found."""
    x, y, signal = population(6_000, 7)
    role = np.arange(6_000) // 2_000
    spread = np.exp(0.5 * x[:, 1])
    signal = signal + 0.5 * spread * (role == 0)
    seen = target(x, y, signal, role == 2)
    several = 1 + attack.many
    seen = replace(seen, value=np.stack([signal] * several), observed=np.ones((several, 6_000), bool))
    scored = role < 2
    exact = (signal - 2 * x[:, 0] * (2 * y - 1)) / spread
    plain, found, best = (auc(s[scored], role[scored] == 0) for s in (signal, attack.score(seen, None), exact))
    assert found - plain > (best - plain) / 2 > 0.03


def test_two_signals_with_independent_noise_find_more_than_one():
    rng = np.random.default_rng(3)
    role = np.arange(4_000) // 1_000
    value = rng.normal(size=(2, 4_000)) + 0.7 * (role == 0)
    x, y, _ = population(4_000, 3)
    seen = replace(target(x, y, value[0], role > 1), value=value, observed=np.ones((2, 4_000), bool))
    scored = role < 2
    truth = role[scored] == 0
    one = auc(Quantile().score(target(x, y, value[0], role > 1), None)[scored], truth)
    two = auc(QuantileJoint().score(seen, None)[scored], truth)
    assert two > one + 0.04
    turned = replace(seen, value=value[::-1])
    np.testing.assert_allclose(QuantileJoint().score(turned, None), QuantileJoint().score(seen, None), rtol=1e-6)


def test_a_person_is_in_one_part_and_the_parts_have_their_sizes():
    n = 900
    person = np.arange(n) // 3
    lot = np.random.default_rng(0).permutation(300)[person] / 300
    use = np.arange(n) >= 300
    records = Records(np.zeros((n, 1)), np.zeros(n), person, lot, use)
    mean, spread, rest = split("quantile", Target(np.zeros((1, n)), np.ones((1, n), bool), records)).parts
    assert (len(mean), len(spread), len(rest)) == (360, 120, 120)
    people = [set(person[part]) for part in (mean, spread, rest)]
    assert not people[0] & people[1] | people[0] & people[2] | people[1] & people[2]
    np.testing.assert_array_equal(np.sort(np.concatenate([mean, spread, rest])), np.flatnonzero(use))


def test_rows_without_an_answer_are_not_compared_with():
    x, y, signal = population(1_000, 0)
    seen = target(x, y, signal, np.arange(1_000) < 600)
    there = np.arange(1_000)[None] % 3 > 0
    loud = np.where(there, seen.value, 1e6)
    first, second = (Quantile().score(replace(seen, value=v, observed=there), None) for v in (seen.value, loud))
    np.testing.assert_array_equal(first[there[0]], second[there[0]])


def test_what_is_missing_is_said_in_one_sentence():
    x, y, signal = population(500, 0)
    few = target(x, y, signal, np.arange(500) < FEWEST - 1)
    with pytest.raises(JaliError, match=r"only 99 people .* set more people aside"):
        Quantile().score(few, None)
    with pytest.raises(JaliError, match="evidence alone does not hold"):
        QuantileJoint().score(replace(few, records=None), None)
    with pytest.raises(JaliError, match="Quantile uses none"):
        Directed(Quantile())


def test_a_wide_table_is_read_by_its_most_variable_features():
    rng = np.random.default_rng(0)
    x = 0.01 * rng.normal(size=(300, 700))
    x[:, 650] *= 100
    seen = target(x, np.zeros(300, dtype=int), x[:, 650], np.arange(300) < 250)
    inputs = split("quantile", seen).inputs
    assert inputs.shape == (300, 501)
    assert (inputs == x[:, 650:651]).all(axis=0).any()


@pytest.mark.parametrize("scale", [1e-15, 1.0, 1e300])
def test_a_leak_is_found_on_every_scale(scale):
    """Of a signal that hardly varies, or is huge, members' values lie above those of all others."""
    rng = np.random.default_rng(0)
    role = np.arange(900) // 300
    signal = scale * (rng.integers(0, 3, 900) + 5.0 * (role == 0))
    score = Quantile().score(target(rng.normal(size=(900, 2)), np.zeros(900, dtype=int), signal, role == 2), None)
    assert auc(score[role < 2], role[role < 2] == 0) > 0.99


@pytest.mark.parametrize("signal", ["yes or no", "constant", "mostly zero"])
def test_signals_with_many_ties_show_no_leak_where_there_is_none(signal):
    rng = np.random.default_rng(1)
    role = np.arange(3000) // 1000
    x = rng.normal(size=(3000, 4))
    values = {
        "yes or no": (rng.random(3000) < 1 / (1 + np.exp(-x[:, 0]))).astype(float),
        "constant": np.ones(3000),
        "mostly zero": np.where(rng.random(3000) < 0.9, 0.0, rng.normal(size=3000)),
    }
    score = Quantile().score(target(x, rng.integers(0, 2, 3000), values[signal], role == 2), None)
    found = delong(score[role < 2], role[role < 2] == 0, 0.999)
    assert found.low <= 0.5 <= found.high
