from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare, ks_2samp

from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema
from jali.explain._attribution.marginals import Marginals, required

SCHEMA = Schema(
    (
        Column("income"),
        Column("gains"),
        Column("age", "integer"),
        Column("job", "category", categories=("a", "b", "c")),
        Column("constant"),
    )
)


def rows(n: int = 800, seed: int = 0):
    rng = np.random.default_rng(seed)
    gains = np.where(rng.random(n) < 0.9, 0.0, rng.exponential(1000, n))
    job = rng.choice(3, n, p=[0.7, 0.25, 0.05])
    return np.column_stack([rng.normal(50, 10, n), gains, rng.integers(18, 90, n), job, np.full(n, 7.0)])


def test_columns_keep_their_distributions_and_lose_each_other():
    X = rows()
    X[:, 2] = np.rint(X[:, 0])
    drawn = Marginals.of(X, SCHEMA).draw((4000,), np.random.default_rng(1))
    assert all(ks_2samp(X[:, j], drawn[:, j]).pvalue > 0.01 for j in (0, 2))
    share = np.bincount(X[:, 3].astype(int)) / len(X)
    assert chisquare(np.bincount(drawn[:, 3].astype(int)), 4000 * share).pvalue > 0.01
    assert abs(np.corrcoef(drawn[:, 0], drawn[:, 2])[0, 1]) < 0.05


def test_values_that_many_share_stay_frequent():
    X = rows()
    drawn = Marginals.of(X, SCHEMA).draw((4000,), np.random.default_rng(1))
    assert abs((drawn[:, 1] == 0).mean() - (X[:, 1] == 0).mean()) < 0.02


def test_draws_are_legal():
    X = rows()
    drawn = Marginals.of(X, SCHEMA).draw((30, 20), np.random.default_rng(1))
    assert drawn.shape == (30, 20, 5)
    assert (drawn >= X.min(axis=0)).all()
    assert (drawn <= X.max(axis=0)).all()
    assert (drawn[..., 4] == 7).all()
    np.testing.assert_array_equal(drawn[..., 2:4], np.rint(drawn[..., 2:4]))


def test_one_row_is_all_there_is():
    X = rows(1)
    np.testing.assert_array_equal(Marginals.of(X, SCHEMA).draw((5,), np.random.default_rng(0)), X.repeat(5, axis=0))


@pytest.mark.parametrize("train", [None, Dataset(np.empty((0, 5)), [], SCHEMA)])
def test_no_rows_are_refused(train):
    with pytest.raises(JaliError, match=r"trepan reads the training set, but none was given"):
        required("trepan", train)
