from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import logit

from jali.audit import quality
from jali.core import registry
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Column, Schema
from jali.data.linear_gaussian import LinearGaussian
from jali.data.sample import Sample
from jali.defend._dp.public import direction
from jali.defend._dp.recourse import Requests
from jali.defend.explain.above_threshold import AboveThreshold
from jali.defend.models.clipped_logistic import ClippedLogistic
from tests.explaining import explained

SOURCE = LinearGaussian(n=3000, d=8, scale="population")
PUBLIC = Sample(SOURCE, n=500, seed=1)


def setting(C=0.005):
    data = SOURCE.load()
    model = ClippedLogistic(bound=1.0, C=C).fit(data, np.ones((3000, 1), bool), [np.random.default_rng(0)])[0]
    return data, model


def steps(part, probability, change, count, seed=0):
    """Steps (count,) released for a record with these probabilities (k,) along its way; 0 where none passes."""
    encoding = Encoding(Schema((Column("x"),)))

    def logits(rows):
        p = np.asarray(probability)[np.rint(rows[:, 0]).astype(int) - 1]
        return np.stack([np.zeros(len(rows)), logit(p)], axis=1)

    said = SimpleNamespace(probability=lambda rows: np.full(len(rows), change))
    model = SimpleNamespace(logits=logits, encoding=encoding, stability=said)
    X, ones = np.zeros((count, 1)), np.ones(count, dtype=int)
    requests = Requests(ones == 1, ones, np.zeros(count))
    return part.first(model, X, requests, np.ones((count, 1)), np.random.default_rng(seed)).astype(int)


def test_without_noise_it_is_the_first_step_above_one_half():
    part = AboveThreshold(1.0, PUBLIC, steps=4, reach=4.0)
    assert (steps(part, [0.1, 0.49, 0.51, 0.9], 1e-9, 5) == 3).all()
    assert (steps(part, [0.1, 0.2, 0.3, 0.4], 1e-9, 5) == 0).all()
    strict = AboveThreshold(1.0, PUBLIC, steps=4, reach=4.0, margin=0.2)
    assert (steps(strict, [0.1, 0.49, 0.51, 0.9], 1e-9, 5) == 4).all()


@pytest.mark.parametrize("epsilon", [0.5, 1.5])
def test_no_outcome_is_more_than_e_to_the_epsilon_times_likelier_in_the_other_world(epsilon):
    """Worst neighbours: every probability moves by the whole sensitivity, the last against the others."""
    part = AboveThreshold(epsilon, PUBLIC, steps=3, reach=3.0)
    here, there = [0.45, 0.45, 0.45], [0.35, 0.35, 0.55]
    count = 100_000
    shares = [np.bincount(steps(part, p, 0.1, count, seed), minlength=4) for seed, p in enumerate((here, there))]
    ratio = np.log(shares[0] / shares[1])
    slack = 3 * np.sqrt(1 / shares[0] + 1 / shares[1])
    assert (np.abs(ratio) <= epsilon + slack).all()
    assert np.abs(ratio).max() > 0.2 * epsilon


def test_the_threshold_and_each_step_have_laplace_noise_of_their_own():
    """One step passes with P[4 D a - 2 D b >= eps gap], a and b standard Laplace, known in closed form."""
    part, gap, change = AboveThreshold(1.0, PUBLIC, steps=1, reach=1.0), 0.1, 0.05
    passed = (steps(part, [0.5 - gap], change, 200_000) == 1).mean()
    big, small = 4 * change, 2 * change
    tail = (big**2 * np.exp(-gap / big) - small**2 * np.exp(-gap / small)) / (2 * (big**2 - small**2))
    assert passed == pytest.approx(tail, abs=0.004)


def test_the_margin_of_the_error_bound_makes_answers_valid():
    data, model = setting()
    way = 6.0 / 8
    change = 0.005 * np.sqrt(2) * (np.linalg.norm(data.X / 8, axis=1).max() + way + 1) / 2
    margin = 8 * change * (np.log(20) + np.log(2 / 0.05)) / 5.0
    part = AboveThreshold(5.0, PUBLIC, reach=6.0, margin=margin)
    out = explained(part, model, data.X, data.schema, None, np.random.default_rng(0))
    assert out.found.mean() > 0.3
    assert quality.validity(model, data.X, out, data.schema)[out.found].mean() >= 0.95


def test_answers_are_steps_of_the_grid_on_the_public_direction():
    data, model = setting()
    out = explained(AboveThreshold(1.0, PUBLIC), model, data.X, data.schema, None, np.random.default_rng(0))
    move = (out.rows - data.X)[out.found]
    length = np.abs(move @ direction("x", PUBLIC, data.schema))
    np.testing.assert_allclose(length / 0.15, np.rint(length / 0.15), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(move, axis=1), length, atol=1e-9)


def test_validity_grows_with_epsilon():
    data, model = setting()
    shares = []
    for epsilon in (0.2, 2.0, 100.0):
        out = explained(AboveThreshold(epsilon, PUBLIC), model, data.X, data.schema, None, np.random.default_rng(0))
        shares.append(quality.validity(model, data.X, out, data.schema)[out.found].mean())
    assert shares[0] < shares[1] < shares[2]
    assert shares[2] > 0.9


def test_what_is_promised():
    part = AboveThreshold(0.5, PUBLIC)
    given = part.guarantee()
    assert (given.epsilon, given.covers, given.per) == (0.5, ("explanations",), "release")
    assert any("not covered" in text for text in given.assumes)
    assert registry.build("explain", registry.spec(part, every=True)) == part


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("above_threshold(epsilon=0, public=linear_gaussian)", "epsilon must be positive"),
        ("above_threshold(epsilon=1)", "needs public"),
        ("above_threshold(epsilon=1, public=linear_gaussian, steps=0)", "steps must be at least 1"),
        ("above_threshold(epsilon=1, public=linear_gaussian, margin=0.5)", "margin between"),
        ("above_threshold(epsilon=1, public=linear_gaussian, reach=-1)", "reach must be positive"),
    ],
)
def test_bad_input_is_one_sentence(spec, says):
    with pytest.raises(JaliError, match=says):
        registry.build("explain", spec)


def test_the_precondition_is_checked():
    data = SOURCE.load()
    plain = registry.build("model", "logistic").fit(data, np.ones((3000, 1), bool), [np.random.default_rng(0)])[0]
    with pytest.raises(JaliError, match=r"above_threshold needs a model .* clipped_logistic"):
        explained(AboveThreshold(1.0, PUBLIC), plain, data.X, data.schema, None, np.random.default_rng(0))
