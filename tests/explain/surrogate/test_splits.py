from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from jali.core.values import Column, Schema
from jali.explain._surrogate import splits
from jali.explain._surrogate.splits import gains, single, split
from jali.text.rules import AtLeast, Term

NUMBERS = Schema(tuple(Column(f"x{j}") for j in range(8)))


def one_hot(y, classes=2):
    return np.eye(classes)[np.asarray(y, dtype=int)]


def test_gain_by_hand():
    """Five yes and five no; a side with 4 and 1 leaves 1 and 4: 10 (log 2 - H(1/5))."""
    h = -(0.2 * np.log(0.2) + 0.8 * np.log(0.8))
    np.testing.assert_allclose(gains(np.array([[4.0, 1.0]]), np.array([5.0, 5.0])), 10 * (np.log(2) - h))


def test_the_best_single_split_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    for seed in range(5):
        X = rng.normal(size=(200, 8))
        y = (X[:, seed] + 0.5 * rng.normal(size=200) > 0.3).astype(int)
        stump = DecisionTreeClassifier(max_depth=1, criterion="entropy").fit(X, y)
        gain, term = single(X, one_hot(y), NUMBERS)[0]
        assert term.column == stump.tree_.feature[0]
        np.testing.assert_allclose(term.high, stump.tree_.threshold[0], atol=1e-6)
        impurity, count = stump.tree_.impurity * np.log(2), stump.tree_.weighted_n_node_samples
        np.testing.assert_allclose(gain, (impurity * count)[0] - (impurity * count)[1:].sum(), rtol=1e-9)


def test_a_category_is_split_from_the_others():
    schema = Schema((Column("c", "category", categories=("a", "b", "c")), Column("constant")))
    X = np.column_stack([np.arange(90) % 3, np.ones(90)]).astype(float)
    assert split(X, one_hot(X[:, 0] == 1), schema, 4, np.random.default_rng(0)) == Term(0, codes=(1,))


@pytest.mark.parametrize(("m", "n"), [(2, 3), (2, 4), (3, 4), (3, 5)])
def test_a_planted_m_of_n_is_found_among_columns_that_say_nothing(m, n):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(3000, 8))
    y = (X[:, :n] > 0).sum(axis=1) >= m
    test = split(X, one_hot(y), NUMBERS, n, rng)
    assert isinstance(test, AtLeast)
    assert {term.column for term in test.terms} == set(range(n))
    agree = (test.holds(X) == y).mean()
    assert max(agree, 1 - agree) > 0.97


def test_one_term_is_enough_where_no_second_is_worth_its_price():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 8))
    assert isinstance(split(X, one_hot(X[:, 3] > 0.2), NUMBERS, 4, rng), Term)
    noise = one_hot(rng.integers(0, 2, 500))
    assert isinstance(split(X, noise, NUMBERS, 4, rng), Term)


def test_m_of_n_is_not_sought_where_one_term_is_asked_for():
    X = np.array(list(itertools.product((0.0, 1.0), repeat=3)) * 50)
    schema = Schema(tuple(Column(c) for c in "abc"))
    assert isinstance(split(X, one_hot(X.sum(axis=1) >= 2), schema, 1, np.random.default_rng(0)), Term)


def test_nothing_to_split():
    rng = np.random.default_rng(0)
    assert split(np.ones((50, 8)), one_hot(rng.integers(0, 2, 50)), NUMBERS, 4, rng) is None
    assert split(rng.normal(size=(50, 8)), one_hot(np.zeros(50)), NUMBERS, 4, rng) is None


def test_a_bound_separates_neighbouring_floats():
    low = 1.0
    high = np.nextafter(low, 2.0)
    X = np.array([[low], [high]])
    term = split(X, one_hot([0, 1]), Schema((Column("a"),)), 1, np.random.default_rng(0))
    np.testing.assert_array_equal(term.holds(X), [True, False])


def test_the_search_looks_at_a_sample_of_many_rows(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 8))
    y = (X[:, :3] > 0).sum(axis=1) >= 2
    monkeypatch.setattr(splits, "ROWS", 1000)
    test = split(X, one_hot(y), NUMBERS, 3, rng)
    assert {term.column for term in test.terms} == {0, 1, 2}
