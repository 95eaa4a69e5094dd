from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from jali.core.encoding import Encoding
from jali.core.values import Column, Schema
from jali.explain._surrogate.trees import Tree, fitted, implied, negated
from jali.text.rules import AtLeast, Rule, Term

SCHEMA = Schema(
    (
        Column("age", "integer", 18, 90, 45, 15),
        Column("income", "number", 0, 200, 50, 25),
        Column("job", "category", categories=("a", "b", "c", "d")),
    ),
    classes=("x", "y", "z"),
)


def people(n: int = 600, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(18, 91, n), rng.uniform(0, 200, n), rng.integers(0, 4, n)])
    y = (X[:, 1] > 90).astype(int) + ((X[:, 2] == 2) & (X[:, 0] > 40))
    return X, np.where(rng.random(n) < 0.1, rng.integers(0, 3, n), y)


@pytest.mark.parametrize("depth", [1, 4, 0])
def test_it_predicts_what_scikit_learn_predicts(depth):
    X, y = people()
    new, encode = people(400, 1)[0] + np.array([0.25, 0, 0]), Encoding(SCHEMA).encode  # on no bound
    oracle = DecisionTreeClassifier(max_depth=depth or None, random_state=0).fit(encode(X), y)
    tree = fitted(X, y, SCHEMA, 0, depth)
    np.testing.assert_allclose(np.exp(tree.logits(new)), oracle.predict_proba(encode(new)), atol=1e-9)
    assert tree.depth == oracle.get_depth()


def test_every_row_obeys_one_rule_and_that_one_predicts_it():
    X, y = people()
    tree, new = fitted(X, y, SCHEMA, 0, 5), people(400, 1)[0]
    rules = tree.rules()
    cover = np.stack([rule.covers(new) for rule in rules])
    np.testing.assert_array_equal(cover.sum(axis=0), 1)
    outcome = np.array([rule.outcome for rule in rules])[cover.argmax(axis=0)]
    np.testing.assert_array_equal(outcome, tree.logits(new).argmax(axis=1))
    assert all(len({term.column for term in rule.premise}) == len(rule.premise) for rule in rules)


def test_a_class_that_never_came_has_a_finite_logit():
    tree = fitted(np.array([[30.0, 1, 0], [40.0, 2, 0]]), np.array([0, 2]), SCHEMA, 0)
    logits = tree.logits(np.array([[30.0, 1, 0]]))
    np.testing.assert_allclose(logits, np.log([[1.0, 1e-12, 1e-12]]), atol=1e-9)


def test_one_class_makes_one_leaf_and_one_rule_for_all():
    tree = fitted(people()[0], np.full(600, 1), SCHEMA, 0)
    assert tree.rules() == (Rule((), 1),)
    assert tree.depth == 0
    assert (tree.logits(people()[0]).argmax(axis=1) == 1).all()


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 3), (2, 3), (3, 3), (2, 4)])
def test_what_is_said_on_the_two_sides_of_m_of_n_is_true_there_and_only_there(m, n):
    X = np.array(list(itertools.product((0.0, 1.0), repeat=n)))
    schema = Schema(tuple(Column(f"c{j}") for j in range(n)))
    terms = tuple(Term(j, low=0.5) for j in range(n))
    test = AtLeast(m, terms) if n > 1 else terms[0]
    for inside in (True, False):
        np.testing.assert_array_equal(Rule(implied(test, inside, schema), 0).covers(X), test.holds(X) == inside)


def test_a_tree_of_m_of_n_by_hand():
    test = AtLeast(2, (Term(0, high=30.0), Term(1, low=50.0), Term(2, codes=(1,))))
    tree = Tree((test, None, None), [1, -1, -1], [2, -1, -1], [[5, 5, 0], [4, 1, 0], [0, 3, 1]], SCHEMA)
    X = np.array([[20.0, 60, 0], [20.0, 10, 1], [40.0, 60, 0], [40.0, 10, 1]])
    np.testing.assert_array_equal(tree.apply(X), [1, 1, 2, 2])
    np.testing.assert_allclose(np.exp(tree.logits(X))[[0, 2]], [[0.8, 0.2, 0], [0, 0.75, 0.25]], atol=1e-9)
    assert tree.rules()[1].sentence(SCHEMA) == (
        "If at least 2 of (age is at least 31; income is at most 50; job is not b), then y."
    )


def test_the_opposite_of_a_term():
    X = people()[0]
    for term in (Term(0, high=40.0), Term(1, low=20.0), Term(2, codes=(1, 3))):
        np.testing.assert_array_equal(negated(term, SCHEMA).holds(X), ~term.holds(X))


def test_bounds_survive_large_centres():
    """Scikit-learn works in float32; columns are centred before, so bounds near 1e9 still tell neighbours apart."""
    schema = Schema((Column("big", centre=1e9, spread=10.0),))
    X = 1e9 + np.arange(100.0)[:, None]
    tree = fitted(X, (np.arange(100) >= 50).astype(int), schema, 0)
    np.testing.assert_array_equal(tree.logits(X).argmax(axis=1), np.arange(100) >= 50)
