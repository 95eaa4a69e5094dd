from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit
from threadpoolctl import threadpool_limits

from jali.audit import quality
from jali.core import registry
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.guarantee import Private
from jali.core.values import Column, Schema
from jali.defend._dp.clamping import clamped
from jali.defend._dp.erm import minimisers
from jali.defend.explain.laplace_recourse import LaplaceRecourse
from jali.explain.linear_recourse import LinearRecourse
from jali.models.fitted.linear import LinearModel
from jali.stats.roc import auc
from tests.explaining import explained

STEEP = 5.0  # of the rule behind the labels of the attacked models


def plane(d=5, seed=0, favourable=1):
    """A linear model of free numbers, its weights and intercept."""
    rng = np.random.default_rng(seed)
    schema = Schema(tuple(Column(f"x{j}", centre=1.0, spread=2.0) for j in range(d)), favourable=favourable)
    w, b = rng.normal(size=d), -0.5
    return schema, LinearModel(Encoding(schema), np.stack([-w, w], axis=1) / 2, np.array([-b, b]) / 2), w, b


def answers(part, model, X, schema, seed=0):
    return explained(part, model, X, schema, None, np.random.default_rng(seed))


def moves(X, out):
    return (out.rows - X) / 2.0  # in model space


def test_without_noise_the_squared_normaliser_ends_on_the_boundary():
    schema, model, _, _ = plane()
    X = np.random.default_rng(1).normal(size=(100, 5))
    out = answers(LaplaceRecourse(epsilon=1e12), model, X, schema)
    plain = answers(LinearRecourse(), model, X, schema)
    np.testing.assert_allclose(out.rows[plain.found], plain.rows[plain.found], atol=1e-4)
    np.testing.assert_allclose(model.logits(out.rows[out.found]), 0.0, atol=1e-6)


def test_the_printed_normaliser_moves_by_the_noised_score_itself():
    """|move| = |f'|, so it hides the length of the weights and misses the boundary."""
    schema, model, w, b = plane()
    X = np.random.default_rng(1).normal(size=(50, 5))
    f = (X - 1) / 2 @ w + b
    out = answers(LaplaceRecourse(epsilon=1e12, normaliser="printed"), model, X, schema)
    np.testing.assert_allclose(np.linalg.norm(moves(X, out), axis=1), np.where(f < 0, np.abs(f), 0), rtol=1e-6)


def test_noise_on_the_probability_is_laplace():
    schema, model, w, b = plane()
    X = np.full((20_000, 5), 1.0)  # p = expit(-.5) = .378
    out = answers(LaplaceRecourse(epsilon=8.0), model, X, schema)
    p = expit(-(moves(X, out) @ w))  # what the score must have been for such a move
    inner = (p > 2e-5) & (p < 1 - 2e-5)
    law = stats.laplace(loc=expit(b), scale=1 / 8)
    low, high = law.cdf(1e-5), law.cdf(1 - 1e-5)
    assert stats.kstest((law.cdf(p[inner]) - low) / (high - low), "uniform").pvalue > 1e-3
    assert 1 - inner.mean() == pytest.approx(clamped(expit(np.array([b])), 1 / 8)[0], abs=0.01)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 5.0, 20.0])
def test_valid_half_the_time_at_every_epsilon(epsilon):
    """Valid where the noise is negative, whatever its size, for every probability between the clamps."""
    schema, model, w, b = plane()
    X = np.random.default_rng(2).normal(size=(20_000, 5))
    out = answers(LaplaceRecourse(epsilon), model, X, schema)
    between = out.found & (expit((X - 1) / 2 @ w + b) > 1e-5)
    valid = quality.validity(model, X, out, schema)[between]
    assert valid.mean() == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(len(valid)))


def test_answers_are_released_valid_or_not_to_those_who_ask():
    schema, model, _, _ = plane()
    X = np.random.default_rng(3).normal(size=(400, 5))
    out = answers(LaplaceRecourse(1.0), model, X, schema)
    asked = model.logits(X).argmax(axis=1) == 0
    np.testing.assert_array_equal(out.found, asked)
    np.testing.assert_array_equal(out.rows[~asked], X[~asked])
    assert 0 < quality.validity(model, X, out, schema)[asked].mean() < 1
    assert not LaplaceRecourse.checked


def test_everybody_asks_where_no_class_is_better():
    schema, model, w, b = plane(favourable=None)
    X = np.random.default_rng(3).normal(size=(100, 5))
    out = answers(LaplaceRecourse(1e12), model, X, schema)
    assert out.found.all()
    np.testing.assert_allclose(moves(X, out) @ w, -((X - 1) / 2 @ w + b), atol=1e-5)


def test_one_answer_gives_the_weights_away():
    """The direction always; the length too wherever the probability was clamped."""
    schema, model, w, _ = plane(d=20)
    X = np.random.default_rng(4).normal(size=(500, 20))
    out = answers(LaplaceRecourse(1.0), model, X, schema)
    move = moves(X, out)[out.found]
    length = np.linalg.norm(move, axis=1)
    np.testing.assert_allclose(np.abs(move @ w), length * np.linalg.norm(w), rtol=1e-9)
    atom = np.isclose(length, logit(1 - 1e-5) / np.linalg.norm(w), rtol=1e-6)
    assert atom.mean() > np.exp(-0.5) - 0.1


def distance_auc(seed, n=400, d=400):
    """AUC of recourse distances for members: undefended, from noised lengths, with the direction of one answer."""
    rng = np.random.default_rng(seed)
    schema = Schema(tuple(Column(f"x{j}") for j in range(d)))
    X, rule = rng.standard_normal((2 * n, d)), rng.standard_normal(d) / np.sqrt(d)
    y, member = rng.random(2 * n) < expit(STEEP * X @ rule), np.arange(2 * n) < n
    w = minimisers(X[member], y[member].astype(float), 1.0, np.zeros((1, d)))[0]
    model = LinearModel(Encoding(schema), np.stack([-w, w], axis=1) / 2, np.zeros(2))
    plain = np.linalg.norm(answers(LinearRecourse(), model, X, schema).rows - X, axis=1)
    move = answers(LaplaceRecourse(1.0), model, X, schema, seed).rows - X
    unit = move[0] / np.linalg.norm(move[0])
    off = min(np.linalg.norm(unit - sign * w / np.linalg.norm(w)) for sign in (-1, 1))
    return auc(plain, member), auc(np.linalg.norm(move, axis=1), member), auc(np.abs(X @ unit), member), off


def test_noise_hides_the_length_and_one_answer_brings_the_attack_back():
    """Twenty seeds: .667 undefended, .50 from the noised length, .667 again; single seeds spread by .02.

    With numpy's own Laplace noise, drawn independently of the records, forty seeds give .503 (standard error .003).
    """
    with threadpool_limits(1):
        found = np.array([distance_auc(seed) for seed in range(20)])
    plain, noised, recovered, off = found.mean(axis=0)
    assert plain == pytest.approx(0.667, abs=0.02)
    assert noised == pytest.approx(0.503, abs=0.02)
    assert recovered == pytest.approx(plain, abs=1e-6)
    assert off < 1e-12


def test_what_is_promised_and_what_is_not():
    part = LaplaceRecourse(0.5)
    given = part.guarantee()
    assert isinstance(part, Private)
    assert (given.covers, given.per, given.noise) == (("one noised score",), "release", "laplace")
    assert "unprotected release of the model" in given.refuted
    assert registry.build("explain", registry.spec(part, every=True)) == part


def test_whole_numbers_bounds_and_fixed_columns_stay_legal():
    columns = (Column("n", "integer", 0, 10, 5, 2), Column("m", low=0, high=1), Column("fixed", mutable=False))
    schema = Schema(columns, favourable=1)
    model = LinearModel(Encoding(schema), np.array([[0, 1.0], [0, 2.0], [0, 3.0]]), np.array([0.0, -1.0]))
    X = np.column_stack([np.arange(11.0), np.linspace(0, 1, 11), np.full(11, -0.2)])
    rows = answers(LaplaceRecourse(1.0), model, X, schema).rows
    np.testing.assert_array_equal(rows[:, 0], np.rint(rows[:, 0]))
    np.testing.assert_array_equal(rows[:, 2], X[:, 2])
    assert rows[:, 0].min() >= 0
    assert rows[:, 1].max() <= 1


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("laplace_recourse(epsilon=0)", "epsilon must be positive"),
        ("laplace_recourse(epsilon=1, clamp=0)", "clamp must lie"),
        ("laplace_recourse(epsilon=1, delta=1e-5)", "no field 'delta'"),
        ('laplace_recourse(epsilon=1, normaliser="cubed")', "one of squared, printed"),
    ],
)
def test_bad_input_is_one_sentence(spec, says):
    with pytest.raises(JaliError, match=says):
        registry.build("explain", spec)


def test_models_that_do_not_fit():
    schema = Schema((Column("a"),), classes=("0", "1", "2"))
    model = LinearModel(Encoding(schema), np.zeros((1, 3)), np.zeros(3))
    with pytest.raises(JaliError, match="two classes"):
        answers(LaplaceRecourse(1.0), model, np.zeros((1, 1)), schema)
