from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from jali.core import registry
from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema
from jali.data.linear_gaussian import LinearGaussian
from jali.defend.models.dp_logistic import DPLogistic
from jali.explain.linear_recourse import LinearRecourse
from jali.stats.epsilon import epsilon_lower_bound
from tests.explaining import explained

LINE = Schema((Column("x", low=-1, high=1),), favourable=1)
METHODS = pytest.mark.parametrize("method", ["objective", "output"])


def line(X, y):
    return Dataset(np.reshape(np.array(X, float), (-1, 1)), y, LINE)


def log_density(part, data, W):
    """Log density, up to a constant, of objective perturbation at weights W (T, k), from its definition."""
    known = part.frame(data.schema)
    A, (left, penalty) = known.cut(data.X), part._split(known)
    p = expit(W @ A.T)
    b = penalty * W + (p - data.y) @ A
    jacobian = np.einsum("tn,ni,nj->tij", p * (1 - p), A, A) + penalty * np.eye(A.shape[1])
    return -np.linalg.norm(b, axis=1) * left / (2 * known.radius) + np.linalg.slogdet(jacobian)[1]


def neighbours(rng, n):
    """Pairs of data sets on the line that differ in one record, all replacements at the ends and in the middle."""
    X, y = rng.choice([-1.0, 1.0, 0.3], n), rng.integers(0, 2, n)
    for x, label in ((-1, 0), (-1, 1), (0, 0), (0, 1), (1, 0), (1, 1)):
        yield line(X, y), line(np.r_[x, X[1:]], np.r_[label, y[1:]])


# --- the guarantee -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "C"), [(0.3, 0.1), (0.3, 10), (1, 1), (1, 10), (3, 1), (3, 100)])
@pytest.mark.parametrize("bound", [0.5, 1.0])
def test_no_replaced_record_changes_the_density_by_more_than_epsilon(epsilon, C, bound):
    """Brute force over weights, data sets and replacements; the worst ratio is above half of what is allowed."""
    part, rng, worst = DPLogistic(epsilon, bound=bound, C=C), np.random.default_rng(0), 0.0
    ends = np.geomspace(0.02, 60, 30)
    axis = np.r_[-ends[::-1], 0, ends]
    W = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    for n in (1, 2, 4):
        for a, b in neighbours(rng, n):
            worst = max(worst, np.abs(log_density(part, a, W) - log_density(part, b, W)).max())
    assert epsilon / 2 < worst <= epsilon


def test_releases_follow_the_density():
    """Boxes of weights are hit as often as the density, integrated on a fine grid, says."""
    part, data = DPLogistic(2.0, bound=1.0, C=2.0), line([-1, 1, 0.5], [0, 1, 0])
    drawn = part.weights(data, 20_000, np.random.default_rng(0))
    axis = np.linspace(-60, 60, 601) + 0.1
    mass = np.exp(log_density(part, data, np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)))
    mass = (mass / mass.sum()).reshape(601, 601)
    for at in (-4.0, -1.0, 0.0, 1.0, 4.0):
        below = axis < at
        assert (drawn[:, 0] < at).mean() == pytest.approx(mass[below].sum(), abs=0.015)
        assert (drawn[:, 1] < at).mean() == pytest.approx(mass[:, below].sum(), abs=0.015)
        assert (drawn < at).all(axis=1).mean() == pytest.approx(mass[below][:, below].sum(), abs=0.015)


def test_two_worlds_are_told_apart_no_better_than_epsilon_allows():
    """The strongest test there is, the likelihood ratio, on draws of both worlds."""
    part, a, b = DPLogistic(3.0, bound=1.0, C=10.0), line([1.0], [0]), line([-1.0], [0])
    W = np.concatenate([part.weights(d, 10_000, np.random.default_rng(s)) for s, d in enumerate((a, b))])
    truth = np.arange(20_000) < 10_000
    ratio = log_density(part, a, W) - log_density(part, b, W)
    shown = epsilon_lower_bound(ratio, truth, rng=np.random.default_rng(0))
    assert 1.0 < shown <= ratio.max() <= 3.0


@pytest.mark.parametrize("C", [0.1, 1.0, 20.0])
def test_one_record_moves_the_exact_minimiser_by_less_than_output_perturbation_assumes(C):
    rng, worst = np.random.default_rng(0), 0.0
    part = DPLogistic(1e12, bound=1.0, C=C, method="output")
    limit = part.noise(part.frame(LINE), 8) * 0.99e12
    for n in (1, 1, 2, 3, 8):
        for a, b in neighbours(rng, n):
            moved = part.weights(a, 1, rng) - part.weights(b, 1, rng)
            worst = max(worst, float(np.linalg.norm(moved)))
    assert limit == pytest.approx(2 * C * np.sqrt(2))
    assert worst <= limit
    assert worst > 0.1 * limit or C > 1


# --- the noise ---------------------------------------------------------------------------------------------------


def table(n=300, d=6, seed=0):
    return LinearGaussian(n=n, d=d, seed=seed, scale="population").load()


def test_output_noise_is_a_ball_around_the_minimiser():
    part, data = DPLogistic(0.5, bound=1.0, C=0.2, method="output"), table()
    exact = DPLogistic(1e12, bound=1.0, C=0.2, method="output").weights(data, 1, np.random.default_rng(0))[0]
    b = part.weights(data, 5000, np.random.default_rng(1)) - exact
    scale = 2 * 0.2 * np.sqrt(2) / (0.99 * 0.5)  # 1 % of epsilon hides the errors of arithmetic
    assert stats.kstest(np.linalg.norm(b, axis=1), stats.gamma(7, scale=scale).cdf).pvalue > 1e-3
    share = b[:, 2] ** 2 / (b**2).sum(axis=1)
    assert stats.kstest(share, stats.beta(0.5, 3).cdf).pvalue > 1e-3


@pytest.mark.parametrize(
    ("C", "left", "penalty"), [(0.2, 0.99 - np.log1p(0.1), 5.0), (9, 0.495, 0.5 / np.expm1(0.495))]
)
def test_objective_noise_recovered_from_the_optimum(C, left, penalty):
    """b = -q w - sum of gradients; bound 1 gives R^2 = 2. C = 9 leaves less than half, so the penalty is raised."""
    part, data = DPLogistic(1.0, bound=1.0, C=C), table()
    W = part.weights(data, 4000, np.random.default_rng(1))
    A = part.frame(data.schema).cut(data.X)
    b = -penalty * W - (expit(W @ A.T) - data.y) @ A
    assert stats.kstest(np.linalg.norm(b, axis=1), stats.gamma(7, scale=2 * np.sqrt(2) / left).cdf).pvalue > 1e-3
    assert stats.kstest(b[:, 2] ** 2 / (b**2).sum(axis=1), stats.beta(0.5, 3).cdf).pvalue > 1e-3


def test_the_split_of_epsilon_is_continuous_and_less_noise_is_needed_for_more():
    scales = []
    for epsilon in np.geomspace(0.05, 50, 200):
        part = DPLogistic(float(epsilon), bound=1.0, C=5.0)
        scales.append(part.noise(part.frame(LINE), 1))
    assert (np.diff(scales) < 0).all()
    assert (np.diff(np.log(scales)) > -0.1).all()


@METHODS
def test_error_bounds_the_distance_from_the_fit_without_noise(method):
    data = table()
    exact = DPLogistic(1e12, bound=1.0, C=3.0, method="output").weights(data, 1, np.random.default_rng(0))[0]
    part = DPLogistic(1.0, bound=1.0, C=3.0, method=method)
    W, known = part.weights(data, 500, np.random.default_rng(2)), part.frame(data.schema)
    far = np.linalg.norm(W - exact, axis=1)
    beyond = np.mean([f > part.error(w, 0.1, known, 300) + 1e-6 for f, w in zip(far, W, strict=True)])
    assert beyond <= 0.1 + 3 * np.sqrt(0.09 / 500)
    assert part.error(W[0], 1.0, known, 300) == 0


# --- the model ---------------------------------------------------------------------------------------------------


@METHODS
def test_accuracy_grows_with_epsilon(method):
    data = table(n=3000, d=5)
    means = []
    for epsilon in (0.01, 0.3, 10.0):
        fitted = DPLogistic(epsilon, bound=0.5, C=0.05, method=method).draws(data, 40, np.random.default_rng(0))
        means.append((fitted.logits(data.X).argmax(axis=2) == data.y[:, None]).mean())
    assert means[0] < means[1] < means[2]
    assert means[0] < 0.7
    assert means[2] > 0.9


@METHODS
def test_a_column_has_bits_of_its_own_and_the_stream_decides(method):
    data, part = table(), DPLogistic(1.0, bound=1.0, method=method)
    member = np.random.default_rng(0).random((300, 3)) < 0.5
    every = part.fit(data, member, [np.random.default_rng(j) for j in range(3)])
    alone = part.fit(data, member[:, 1:2], [np.random.default_rng(1)])
    np.testing.assert_array_equal(every.coef[1], alone.coef[0])
    other = part.fit(data, member[:, 1:2], [np.random.default_rng(8)])
    assert np.abs(other.coef - alone.coef).max() > 1e-3


def test_explainers_work_on_it_as_on_any_linear_model():
    data = table(n=2000)
    model = DPLogistic(5.0, bound=1.0, C=0.1).fit(data, np.ones((2000, 1), bool), [np.random.default_rng(0)])[0]
    out = explained(LinearRecourse(), model, data.X[:50], data.schema, None, np.random.default_rng(0))
    assert out.found.all()
    assert (model.logits(out.rows).argmax(axis=1) != model.logits(data.X[:50]).argmax(axis=1)).all()


def test_one_class_alone_is_trained_too():
    """Refusing it would tell something of the data outside the budget."""
    fitted = DPLogistic(1.0, bound=1.0).fit(
        line([0.5] * 50, [1] * 50), np.ones((50, 1), bool), [np.random.default_rng(0)]
    )
    assert np.isfinite(fitted.coef).all()


def test_more_columns_than_rows():
    data = LinearGaussian(n=60, d=1000, scale="population").load()
    fitted = DPLogistic(1.0, bound=4.0).fit(data, np.ones((60, 1), bool), [np.random.default_rng(0)])
    assert fitted.coef.shape == (1, 1000, 2)


def test_thousands_of_releases_are_drawn_at_once():
    data = LinearGaussian(n=500, d=20, scale="population").load()
    assert len(DPLogistic(1.0, bound=1.0).draws(data, 1000, np.random.default_rng(0))) == 1000


@METHODS
def test_what_is_promised(method):
    part = DPLogistic(0.5, bound=1.0, method=method, scaling="declared")
    given = part.guarantee()
    assert (given.epsilon, given.delta, given.adjacency, given.per) == (0.5, 0.0, "replace-one", "total")
    assert given.covers == ("decisions", "explanations")
    assert "centre, spread" in given.assumes[0]
    assert not given.refuted
    assert registry.build("model", registry.spec(part, every=True)) == part


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("dp_logistic(epsilon=0, bound=1)", "epsilon must be positive"),
        ("dp_logistic(epsilon=-1, bound=1)", "epsilon must be positive"),
        ("dp_logistic(epsilon=1)", r"needs bound, .* write dp_logistic\(bound=…\)"),
        ("dp_logistic(bound=1)", "needs epsilon"),
        ("dp_logistic(epsilon=1, bound=1, delta=1e-5)", "cannot make use of delta = 1e-05: leave it out"),
        ("dp_logistic(epsilon=1, bound=1, C=0)", "C must be positive"),
        ('dp_logistic(epsilon=1, bound=1, method="both")', "one of objective, output"),
    ],
)
def test_bad_input_is_one_sentence(spec, says):
    with pytest.raises(JaliError, match=says):
        registry.build("model", spec)


def test_tables_it_cannot_train_on():
    part, one = DPLogistic(1.0, bound=1.0), [np.random.default_rng(0)]
    three = Dataset(np.zeros((3, 1)), [0, 1, 2], Schema(LINE.columns, classes=("a", "b", "c")))
    with pytest.raises(JaliError, match="two classes"):
        part.fit(three, np.ones((3, 1), bool), one)
    endless = Dataset(np.zeros((2, 1)), [0, 1], Schema((Column("x"),)))
    with pytest.raises(JaliError, match="column 'x' has none"):
        part.fit(endless, np.ones((2, 1), bool), one)
    with pytest.raises(JaliError, match="no rows"):
        part.fit(line([0.0], [0]), np.zeros((1, 1), bool), one)
