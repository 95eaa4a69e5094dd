import numpy as np
import pytest
from scipy.stats import norm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import f1_score

from jali.core.errors import JaliError
from jali.data.gaussian_mixture import GaussianMixture, _parameters


def test_the_first_two_classes_are_as_far_apart_as_asked_for():
    centres, loadings = _parameters(12, 4, 2.5, np.random.default_rng(0))
    inverse = np.linalg.inv(np.eye(12) + loadings.T @ loadings)
    far = [np.sqrt((centres[0] - c) @ inverse @ (centres[0] - c)) for c in centres]
    assert far[1] == pytest.approx(2.5)
    assert 2.5 < far[2] < far[3]
    assert (np.count_nonzero(centres, axis=0) == 1).all()  # every column belongs to one class
    np.testing.assert_array_equal(np.count_nonzero(centres, axis=1), 3)


def test_rows_have_the_centres_and_the_covariance_of_the_law():
    source = GaussianMixture(n=60_000, d=6, classes=2, separation=2.0)
    data, (centres, loadings) = source.load(), _parameters(6, 2, 2.0, np.random.default_rng(source.seed))
    within = np.cov(np.concatenate([data.X[data.y == c] - data.X[data.y == c].mean(axis=0) for c in (0, 1)]).T)
    gap = data.X[data.y == 1].mean(axis=0) - data.X[data.y == 0].mean(axis=0)
    law, way = np.eye(6) + loadings.T @ loadings, centres[1] - centres[0]
    scale = np.sqrt(np.diag(law) + way**2 / 4)  # two clouds of equal weight: within plus between
    np.testing.assert_allclose(within, law / np.outer(scale, scale), atol=0.02)
    np.testing.assert_allclose(gap, way / scale, atol=0.05)


@pytest.mark.parametrize("separation", [0.0, 1.0, 3.0])
def test_the_best_rule_errs_as_the_normal_law_says(separation):
    """Two clouds of one covariance: accuracy Phi(distance / 2), reached by the linear discriminant."""
    data = GaussianMixture(n=40_000, d=8, classes=2, separation=separation).load()
    right = LinearDiscriminantAnalysis().fit(data.X[::2], data.y[::2]).score(data.X[1::2], data.y[1::2])
    want = norm.cdf(separation / 2)
    assert abs(right - want) < 4 * np.sqrt(want * (1 - want) / 20_000) + 0.002


def test_standardised_and_balanced():
    data = GaussianMixture(n=3001).load()
    np.testing.assert_allclose(data.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(data.X.std(axis=0), 1, atol=1e-12)
    assert sorted(np.bincount(data.y)) == [1000, 1000, 1001]
    assert data.schema.favourable is None


def test_seed_settles_the_table():
    assert (GaussianMixture(n=50).load().X == GaussianMixture(n=50).load().X).all()
    assert (GaussianMixture(n=50).load().X != GaussianMixture(n=50, seed=1).load().X).any()


@pytest.mark.slow
def test_a_forest_is_as_good_as_in_the_paper():
    """Table 1 of Naretto et al. (2024): F1 of the forest .88, .89, .99; training rows as there, 70 % of 70 %."""
    data = GaussianMixture().load()
    forest = RandomForestClassifier(50, random_state=0).fit(data.X[:14_700], data.y[:14_700])
    f1 = f1_score(data.y[14_700:21_000], forest.predict(data.X[14_700:21_000]), average=None)
    np.testing.assert_allclose(f1, [0.88, 0.89, 0.99], atol=0.03)


@pytest.mark.parametrize(
    "fields", [{"n": 1}, {"d": 0}, {"seed": -1}, {"classes": 1}, {"classes": 31}, {"separation": -1.0}]
)
def test_refuses_what_cannot_be_drawn(fields):
    with pytest.raises(JaliError, match="gaussian_mixture"):
        GaussianMixture(**fields)
