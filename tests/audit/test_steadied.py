"""A leak that far answers or differing models drown in means is found; where neither is there, nothing changes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import cauchy

from jali.attacks.joint import Joint
from jali.audit.steadied import MOST, steadied, with_steadied
from jali.audit.trials import Trial, contrast_rows, guess_by_metric
from jali.core.values import Channel, Evidence, Game, SignalName, Unit
from jali.results import Row
from jali.stats.roc import auc

RECORDS, MODELS = 600, 10


def added(member: np.ndarray, score: np.ndarray, told: np.ndarray, given: np.ndarray | None = None) -> Row:
    """What columns of an explanation (C, N, M), given in some cells (N, M), add to a score (N, M) in AUC.

    The last model is no target where not all cells are given.
    """
    names = (SignalName("confidence"), *(SignalName(f"column {k}", "e") for k in range(len(told))))
    value = np.concatenate([score[None], told])
    observed = np.ones(value.shape, dtype=bool)
    models = np.arange(member.shape[1])
    targets = models
    if given is not None:
        observed[1:] = given
        targets = models[:-1]
    evidence = Evidence(names, np.where(observed, value, 0.0), observed, member)
    game = Game(member, targets, models != targets[:, None], np.ones((len(member), len(targets)), dtype=bool))
    trial = Trial(Joint(), names, Channel.SCORE_AND_EXPLANATION, "e", Channel.SCORE, 1)
    found = guess_by_metric(evidence, game, trial, metrics=("auc",))
    (row,) = contrast_rows(trial, found, game, np.random.default_rng(0))
    return row


def drawn(seed: int) -> tuple[np.random.Generator, np.ndarray, np.ndarray, np.ndarray]:
    """Numbers, membership, noise of a score with a shift of 0.75, and levels of the records for the explanation."""
    rng = np.random.default_rng(seed)
    member = rng.random((RECORDS, MODELS)) < 0.5
    return rng, member, 0.75 * member + rng.normal(size=member.shape), rng.normal(0, 2, (RECORDS, 1))


def ideal(member: np.ndarray, score: np.ndarray, ratio: np.ndarray) -> float:
    """What the likelihood ratio of the explanation adds to that of the score, on average over models."""
    first = 0.75 * score
    each = [auc((first + ratio)[:, t], member[:, t]) - auc(first[:, t], member[:, t]) for t in range(MODELS)]
    return float(np.mean(each))


@pytest.mark.parametrize("signed", [False, True])
def test_a_leak_among_far_answers_is_found(signed):
    """Cauchy noise around each record's level: 2 % of the likelihood ratio's addition was found, or nothing."""
    rng, member, score, level = drawn(1)
    shift = 2.5 * rng.choice([-1.0, 1.0], (RECORDS, 1)) if signed else np.ones((RECORDS, 1))
    answer = rng.standard_cauchy(member.shape) + shift * member
    wanted = ideal(member, score, cauchy.logpdf(answer - shift) - cauchy.logpdf(answer))
    row = added(member, score + rng.normal(0, 2, (RECORDS, 1)), (level + 0.1 * answer)[None])
    assert row.low > 0
    assert row.value > 0.5 * wanted > 0.03


@pytest.mark.parametrize(("share", "size"), [(0.01, 1e6), (0.01, 1e30), (0.002, 1e300)])
def test_a_leak_beside_a_few_numbers_far_out_is_found(share, size):
    """One cell of a hundred or fewer decides all variances: of .05 nothing was found, and "less than .015" was said."""
    rng, member, score, level = drawn(8)
    answer = rng.normal(size=member.shape) + 0.6 * member
    out = rng.random(member.shape) < share
    wanted = ideal(member, score, np.where(out, 0.0, 0.6 * answer - 0.18))
    row = added(member, score + rng.normal(0, 2, (RECORDS, 1)), np.where(out, size, level + answer)[None])
    assert row.value > 0.7 * wanted > 0.025


def test_a_leak_under_models_with_a_level_of_their_own_is_found():
    """Middles of models that lie thirty deviations apart: nothing was found of 0.05."""
    rng, member, score, level = drawn(2)
    answer = rng.normal(size=member.shape) + 0.6 * member
    wanted = ideal(member, score, 0.6 * answer)
    row = added(member, score, (level + answer + 30 * rng.normal(size=(1, MODELS)))[None])
    assert row.value > 0.8 * wanted > 0.03


@pytest.mark.parametrize("manner", ["far answers", "levels"])
def test_one_model_with_few_answers_hides_no_leak(manner):
    """For want of answers of one shadow model no level was taken off (.0003 was found of .05) and no far answer cut."""
    rng, member, score, level = drawn(9)
    if manner == "levels":
        answer = rng.normal(size=member.shape) + 0.6 * member
        ratio = 0.6 * answer
        told = level + answer + 30 * rng.normal(size=(1, MODELS))
    else:
        answer = rng.standard_cauchy(member.shape) + 1.2 * member
        ratio = cauchy.logpdf(answer - 1.2) - cauchy.logpdf(answer)
        told = level + answer
    given = np.ones(member.shape, dtype=bool)
    given[10:, -1] = False
    row = added(member, score + rng.normal(0, 2, (RECORDS, 1)), told[None], given)
    assert row.low > 0
    assert row.value > 0.35 * ideal(member, score, ratio) > 0.01


def test_where_there_is_no_leak_none_is_found():
    rng, member, score, level = drawn(3)
    heavy = level + rng.standard_cauchy((4, *member.shape)) + 10 * rng.normal(size=(4, 1, MODELS))
    row = added(member, score, heavy)
    assert row.low <= 0 <= row.high
    assert abs(row.value) < 0.005


def test_usual_answers_by_hand():
    """Middles of records and of models are taken off, and what is left is in the model's median distances."""
    rng = np.random.default_rng(4)
    rest = rng.normal(size=(400, 5)) * np.array([1.0, 1.0, 1.0, 2.0, 2.0])
    rest[7] = [0.0, 1.0, 50.0, -1.0, 0.0]
    observed = np.ones(rest.shape, dtype=bool)
    found = steadied(rest, observed)
    assert found is not None
    same = steadied(1e6 + 50.0 * np.arange(400)[:, None] + 3 * rest, observed)
    assert same is not None
    np.testing.assert_allclose(same, found, atol=1e-6)
    moved = steadied(rest + 1e3 * np.arange(5), observed)
    assert moved is not None
    assert np.corrcoef(moved.ravel(), found.ravel())[0, 1] > 0.99
    # A far answer that moves farther changes no median, and no other record; arcsinh(1e12) is 28.
    far = rest.copy()
    far[7, 2] = 1e12
    moved = steadied(far, observed)
    assert moved is not None
    np.testing.assert_array_equal(np.delete(moved, 7, axis=0), np.delete(found, 7, axis=0))
    assert moved[7, 2] == pytest.approx(28.3, abs=1.0)


def evidence(value: np.ndarray, units: tuple[Unit, ...] = ()) -> Evidence:
    names = tuple(SignalName(f"s{k}", "e" if k else "") for k in range(len(value)))
    return Evidence(names, value, np.ones(value.shape, dtype=bool), np.zeros(value.shape[1:], dtype=bool), units)


def test_plain_signals_stay_as_they_are():
    rng = np.random.default_rng(5)
    plain = evidence(rng.normal(size=(3, 300, 8)) + rng.normal(0, 2, (3, 300, 1)))
    found, base = with_steadied(plain, 1)
    assert found is plain
    assert base == 1


@pytest.mark.parametrize("column", [np.zeros((300, 8)), np.arange(300.0)[:, None] + 1e-15 * np.ones((1, 8))])
def test_answers_that_hardly_differ_are_no_noise_to_read(column):
    assert steadied(column, np.ones(column.shape, dtype=bool)) is None


def test_each_side_has_its_own_after_its_signals():
    rng = np.random.default_rng(6)
    value = rng.normal(size=(MOST + 4, 300, 8))
    value[0] *= np.exp(rng.normal(size=8))
    value[2:] = rng.standard_cauchy(value[2:].shape)
    yes_no = evidence((value > 0).astype(np.float64), (Unit.YES_NO,) * len(value))
    assert with_steadied(yes_no, 1)[0] is yes_no
    found, base = with_steadied(evidence(value), 2)
    assert base == 3
    assert [str(name) for name in found.names[:4]] == ["s0", "e/s1", "s0, steadied", "e/s2"]
    assert len(found.names) == len(value) + 1 + MOST
    np.testing.assert_array_equal(found.value[0], value[0])


def test_gaps_stay_gaps():
    rng = np.random.default_rng(7)
    value = rng.standard_cauchy((300, 8))
    observed = rng.random(value.shape) < 0.6
    observed[:5] = False
    observed[:5, 0] = True
    found = steadied(value, observed)
    assert found is not None
    assert not found[~observed].any()
    assert not found[:5].any()  # too few models answered
    assert np.count_nonzero(found[5:][observed[5:]]) > 0.9 * observed[5:].sum()
    few = observed.copy()
    few[:, 3] = False
    others = steadied(np.delete(value, 3, axis=1), np.delete(few, 3, axis=1))
    rest = steadied(value, few)  # nothing is known of that model, and the others are read as without it
    assert others is not None
    assert rest is not None
    assert not rest[:, 3].any()
    np.testing.assert_array_equal(np.delete(rest, 3, axis=1), others)
    assert steadied(value, few & (np.arange(8) < 4)) is None  # three models
