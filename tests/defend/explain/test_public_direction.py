from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy import stats

from jali.audit import quality
from jali.core import registry
from jali.core.errors import JaliError
from jali.data.hypercube import Hypercube
from jali.data.linear_gaussian import LinearGaussian
from jali.data.sample import Sample
from jali.defend._dp.noise import shift
from jali.defend._dp.public import direction
from jali.defend._dp.recourse import recourse_requests
from jali.defend.explain.public_direction import PublicDirection
from jali.defend.models.clipped_logistic import ClippedLogistic
from jali.models.logistic import Logistic
from tests.explaining import explained

SOURCE = LinearGaussian(n=3000, d=8, scale="population")
PUBLIC = Sample(SOURCE, n=500, seed=1)


def setting(C=0.01, bound=1.0):
    data = SOURCE.load()
    model = ClippedLogistic(bound=bound, C=C).fit(data, np.ones((3000, 1), bool), [np.random.default_rng(0)])[0]
    return data, model


def explain(part, model, data, seed=0):
    return explained(part, model, data.X, data.schema, None, np.random.default_rng(seed))


@pytest.mark.parametrize("noised", ["score", "probability"])
@pytest.mark.parametrize("beta", [0.05, 0.3])
def test_answers_are_valid_with_the_promised_probability(noised, beta):
    data, model = setting()
    out = explain(PublicDirection(2.0, PUBLIC, beta, noised), model, data)
    valid = quality.validity(model, data.X, out, data.schema)[out.found]
    assert out.found.mean() > 0.5
    assert valid.mean() >= 1 - beta - 3 * np.sqrt(beta / len(valid))
    assert valid.mean() < 1


def test_answers_lie_on_the_public_direction_and_tell_nothing_else_of_the_model():
    data, model = setting()
    out = explain(PublicDirection(1.0, PUBLIC), model, data)
    move, v = (out.rows - data.X)[out.found], direction("x", PUBLIC, data.schema)
    np.testing.assert_allclose(move, np.outer(move @ v, v), atol=1e-9)


def lowered(part, model, data, x, count, seed=0):
    """Draws of the noised and lowered score and slope of one record."""
    X = np.repeat(data.X[x : x + 1], count, axis=0)
    requests = recourse_requests("x", model, X, data.schema)
    way = np.outer(requests.sign, direction("x", PUBLIC, data.schema))
    slope = float(way[0] @ (model.coef[:, 1] - model.coef[:, 0]) * requests.sign[0])
    return part.lowered(model, X, requests, way, np.random.default_rng(seed)), requests.score[0], slope


def test_the_noise_is_laplace_of_the_stability_and_shifted():
    """Half of epsilon each; C = .01, bound 1: 2 C R ||x|| for the score, 2 C R ||v|| / 8 for the slope."""
    data, model = setting()
    (score, slope), f, g = lowered(PublicDirection(0.5, PUBLIC, 0.1), model, data, 3, 20_000)
    row = np.r_[data.X[3] / 8, 1.0]
    for drawn, true, length in ((score, f, np.linalg.norm(row)), (slope, g, 1 / 8)):
        scale = 2 * 0.01 * np.sqrt(2) * length / 0.25
        assert stats.kstest(drawn, stats.laplace(true - scale * shift(0.05), scale).cdf).pvalue > 1e-3
        assert (drawn > true).mean() == pytest.approx(0.05, abs=0.006)


def test_two_worlds_are_told_apart_no_better_than_epsilon_allows():
    """One record replaced by its worst: the largest log ratio of the densities, both numbers together."""
    data, model = setting(C=0.05)
    bad = np.where(data.y == 1, -8.0, 8.0)[0] * direction("x", PUBLIC, data.schema)
    twin = dataclasses.replace(data, X=np.vstack([bad, data.X[1:]]))
    other = ClippedLogistic(bound=1.0, C=0.05).fit(twin, np.ones((3000, 1), bool), [np.random.default_rng(0)])[0]
    part, said = PublicDirection(1.0, PUBLIC), model.stability
    (_, f, g), (_, h, k) = lowered(part, model, data, 5, 1), lowered(part, other, data, 5, 1)
    loss = abs(f - h) * 0.5 / said.score(data.X[5:6])[0] + abs(g - k) * 0.5 / (said.weights / 8)
    assert 0.05 < loss <= 1.0


def test_noise_on_the_score_never_errs_more_than_noise_on_the_probability():
    data, model = setting()
    (score, _), f, _ = lowered(PublicDirection(0.3, PUBLIC, 0.5, "score"), model, data, 7, 5000)
    (other, _), _, _ = lowered(PublicDirection(0.3, PUBLIC, 0.5, "probability"), model, data, 7, 5000)
    assert (np.abs(score - f) <= np.abs(other - f) + 1e-9).all()


def test_more_epsilon_makes_recourse_cheaper():
    data, model = setting()
    costs = []
    for epsilon in (0.5, 2.0, 50.0):
        out = explain(PublicDirection(epsilon, PUBLIC), model, data)
        costs.append(np.median(quality.cost(data.X, out, data.schema, "l2")[out.found]))
    assert costs[0] > costs[1] > costs[2]


def test_a_direction_that_does_not_help_gets_no_answer():
    data, model = setting()
    away = dataclasses.replace(model, coef=-model.coef)
    assert explain(PublicDirection(5.0, PUBLIC), away, data).found.mean() < 0.1


def test_what_is_promised():
    part = PublicDirection(0.5, PUBLIC)
    given = part.guarantee()
    assert (given.epsilon, given.covers, given.per) == (0.5, ("explanations",), "release")
    assert any("not covered" in text for text in given.assumes)
    assert registry.build("explain", registry.spec(part, every=True)) == part


def test_the_precondition_is_checked():
    data = SOURCE.load()
    plain = Logistic().fit(data, np.ones((3000, 1), bool), [np.random.default_rng(0)])[0]
    with pytest.raises(JaliError, match=r"public_direction needs a model .* clipped_logistic"):
        explain(PublicDirection(1.0, PUBLIC), plain, data)


def test_public_data_of_another_table_are_refused():
    data, model = setting()
    with pytest.raises(JaliError, match="LinearGaussian has others"):
        explain(PublicDirection(1.0, LinearGaussian(n=100, d=9, scale="population")), model, data)
    with pytest.raises(JaliError, match="Hypercube has others"):
        explain(PublicDirection(1.0, Hypercube(n=100, d=10)), model, data)


def test_a_table_in_which_nothing_may_change():
    schema = SOURCE.load().schema
    columns = tuple(dataclasses.replace(c, mutable=False) for c in schema.columns)
    with pytest.raises(JaliError, match="no number may change"):
        direction("x", PUBLIC, dataclasses.replace(schema, columns=columns))


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("public_direction(epsilon=0, public=linear_gaussian)", "epsilon must be positive"),
        ("public_direction(epsilon=1)", "needs public"),
        ("public_direction(epsilon=1, public=linear_gaussian, beta=0.7)", "beta, the share"),
        ('public_direction(epsilon=1, public="linear_gaussian")', "part of kind data"),
    ],
)
def test_bad_input_is_one_sentence(spec, says):
    with pytest.raises(JaliError, match=says):
        registry.build("explain", spec)
