from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from jali.core.errors import JaliError
from jali.defend._dp import erm
from jali.defend._dp.erm import minimisers


def problem(n=60, k=5, count=7, seed=0):
    rng = np.random.default_rng(seed)
    A = np.column_stack([rng.normal(size=(n, k - 1)), np.ones(n)])
    return A, (rng.random(n) < 0.4).astype(float), 3.0 * rng.normal(size=(count, k))


def gradient(A, y, penalty, tilt, w):
    return A.T @ (expit(A @ w) - y) + penalty * w + tilt


@pytest.mark.parametrize("penalty", [0.05, 1.0, 50.0])
def test_the_gradient_vanishes_for_every_tilt(penalty):
    A, y, tilt = problem()
    for b, w in zip(tilt, minimisers(A, y, penalty, tilt), strict=True):
        assert np.linalg.norm(gradient(A, y, penalty, b, w)) < 1e-7


def test_against_a_general_solver():
    from scipy.optimize import minimize

    A, y, tilt = problem(count=3)
    found = minimisers(A, y, 0.7, tilt)
    for b, w in zip(tilt, found, strict=True):

        def objective(v, b=b):
            s = A @ v
            return np.logaddexp(0, s).sum() - y @ s + 0.35 * v @ v + b @ v

        assert objective(w) <= minimize(objective, np.zeros(5), method="BFGS").fun + 1e-9


def test_without_tilt_it_is_scikit_learns_optimum():
    from sklearn.linear_model import LogisticRegression

    A, y, _ = problem(n=200)
    fit = LogisticRegression(C=0.3, fit_intercept=False, tol=1e-10, max_iter=1000).fit(A, y)
    np.testing.assert_allclose(minimisers(A, y, 1 / 0.3, np.zeros((1, 5))), fit.coef_, atol=1e-6)


def test_more_columns_than_rows_are_solved_in_the_row_space():
    A, y, tilt = problem(n=8, k=30)
    found = minimisers(A, y, 0.5, tilt)
    for b, w in zip(tilt, found, strict=True):
        assert np.linalg.norm(gradient(A, y, 0.5, b, w)) < 1e-7
    np.testing.assert_allclose(found, erm._newton(erm._Problem(A, y, 0.5, tilt), 1.0), atol=1e-7)


def test_company_and_size_of_blocks_do_not_matter(monkeypatch):
    A, y, tilt = problem(count=9)
    together = minimisers(A, y, 1.0, tilt)
    monkeypatch.setattr(erm, "CELLS", 2 * A.size)
    np.testing.assert_allclose(minimisers(A, y, 1.0, tilt), together, atol=1e-9)
    assert minimisers(A, y, 1.0, tilt[:0]).shape == (0, 5)


def test_far_tilts_converge():
    A, y, tilt = problem()
    for b, w in zip(tilt, minimisers(A, y, 0.01, 1e4 * tilt), strict=True):
        assert np.linalg.norm(gradient(A, y, 0.01, 1e4 * b, w)) < 1e-8 * np.linalg.norm(1e4 * b)


def test_a_search_that_ends_early_is_refused(monkeypatch):
    monkeypatch.setattr(erm, "STEPS", 1)
    A, y, tilt = problem()
    with pytest.raises(JaliError, match="guarantee needs the optimum"):
        minimisers(A, y, 0.1, tilt)
