from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema
from jali.privacy.mechanisms import mark, recording, released, replaying
from jali.verify.dependence import ROWS, leaking_variables

SCHEMA = Schema((Column("a"), Column("b")))
QUERY = np.array([0.3, -0.2])


@pytest.fixture
def neighbours():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    data = Dataset(X, X[:, 0] > 0, SCHEMA)
    other = X.copy()
    other[7] = [5.0, -5.0]
    return data, dataclasses.replace(data, X=other)


def noise():
    return np.random.default_rng(1).laplace(size=2)


def mean(data):
    """A declared mechanism and nothing else."""
    return released("noise on the mean", lambda: data.X.mean(axis=0) + noise(), scale=1.0)


def test_a_release_through_its_mechanism_alone_is_clean(neighbours):
    assert leaking_variables(mean, *neighbours) == ()
    assert leaking_variables(lambda d: 3 * mean(d) + QUERY, *neighbours) == ()


def test_a_nearest_training_row_is_the_rows_themselves(neighbours):
    def nearest(data):
        return data.X[np.linalg.norm(data.X - [4.0, -4.0], axis=1).argmin()]

    assert leaking_variables(nearest, *neighbours) == (ROWS,)


def test_a_scaler_fitted_on_the_data_is_named_through_any_library(neighbours):
    from sklearn.preprocessing import StandardScaler

    def scaled(data):
        scaler = StandardScaler().fit(data.X)
        return mean(data) * mark("spread of the scaler", scaler.scale_) + QUERY

    assert leaking_variables(scaled, *neighbours) == ("spread of the scaler",)

    def unmarked(data):
        return mean(data) * StandardScaler().fit(data.X).scale_

    assert leaking_variables(unmarked, *neighbours) == (ROWS,)


def test_a_background_sample_is_named_by_its_mark(neighbours):
    def shapley(data):
        weights = mean(data)
        background = mark("background sample", data.X[5:15])
        return weights * (QUERY - background.mean(axis=0))  # the Shapley values of a linear model

    assert leaking_variables(shapley, *neighbours) == ("background sample",)


def test_only_the_values_that_matter_are_named(neighbours):
    def two(data):
        mark("never used", data.X.sum(axis=0))
        return mean(data) + mark("used", data.X.max(axis=0))

    assert leaking_variables(two, *neighbours) == ("used",)


def test_noise_whose_scale_comes_from_the_data_is_named(neighbours):
    def stretched(data):
        reach = float(np.abs(data.X).max())
        return released("noise", lambda: data.X.mean(axis=0) + reach * noise(), scale=reach)

    assert leaking_variables(stretched, *neighbours) == ("scale of noise",)


def test_mechanisms_that_are_called_by_the_data_are_refused(neighbours):
    def fickle(data):
        for _ in range(int(data.X[7, 0] > 4) + 1):
            out = released("noise", lambda: noise())
        return out

    with pytest.raises(JaliError, match="depends on the data"):
        leaking_variables(fickle, *neighbours)


def test_outside_a_check_nothing_is_kept_or_given_back():
    with recording() as tape:
        assert released("a", lambda: np.array([1.0]))[0] == 1.0
        mark("m", np.array([2.0]))
    assert released("a", lambda: np.array([3.0]))[0] == 3.0
    assert len(tape.releases) == 1
    with replaying(tape, frozenset({"m"})):
        assert released("a", lambda: np.array([9.0]))[0] == 1.0
        assert mark("m", np.array([9.0]))[0] == 2.0
    with replaying(tape):
        assert mark("m", np.array([9.0]))[0] == 9.0
