from __future__ import annotations

import itertools

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.core.explanation import Surrogate
from jali.core.values import Column, Schema
from jali.text.rules import (
    AtLeast,
    Rule,
    Term,
    accuracy,
    exposing,
    fidelity,
    hits,
    narrowed,
    published,
    rule_support,
    support,
)

TOWNS = tuple("abcdefghij")
SCHEMA = Schema(
    (Column("age", "integer", 18, 90), Column("income"), Column("town", "category", categories=TOWNS)),
    classes=("denied", "granted"),
)


class Above:
    """Grants whoever has more than a bound in one column."""

    def __init__(self, column: int, bound: float) -> None:
        self.column, self.bound = column, bound

    def logits(self, X):
        return np.stack([np.zeros(len(X)), X[:, self.column] - self.bound], axis=1)


@pytest.mark.parametrize(
    ("term", "said"),
    [
        (Term(0, high=30.5), "age is at most 30"),
        (Term(0, high=30.0), "age is at most 30"),
        (Term(0, low=30.0), "age is at least 31"),
        (Term(0, low=29.5, high=30.5), "age is 30"),
        (Term(0, low=29.5, high=40.2), "age is at least 30 and at most 40"),
        (Term(1, low=1234.5678), "income is above 1,234.57"),
        (Term(1, low=-2.5, high=1e6), "income is above -2.5 and at most 1,000,000"),
        (Term(1), "income is anything"),
        (Term(2, codes=(3,)), "town is d"),
        (Term(2, codes=(0, 1, 2)), "town is a, b or c"),
        (Term(2, codes=tuple(range(1, 10))), "town is not a"),
        (Term(2, codes=tuple(range(2, 10))), "town is not a or b"),
        (Term(2, codes=tuple(range(10))), "town is anything"),
        (Term(2, codes=()), "town is nothing"),
    ],
)
def test_terms_in_words(term, said):
    assert term.sentence(SCHEMA) == said


def test_many_categories_are_counted():
    schema = Schema((Column("town", "category", categories=tuple(f"t{i}" for i in range(20))),))
    assert Term(0, codes=tuple(range(9))).sentence(schema) == "town is t0, t1, t2, t3, t4 or 4 others"


def test_bounds_are_open_below_and_closed_above():
    X = np.array([[30.0, 5.0, 0], [31.0, 5.0, 1], [40.0, 5.0, 2], [41.0, 5.0, 9]])
    np.testing.assert_array_equal(Term(0, 30.0, 40.0).holds(X), [False, True, True, False])
    np.testing.assert_array_equal(Term(2, codes=(1, 9)).holds(X), [False, True, False, True])


@pytest.mark.parametrize("m", [1, 2, 3])
def test_at_least_counts_terms_in_every_world(m):
    X = np.array(list(itertools.product((0.0, 1.0), repeat=3)))
    some = AtLeast(m, tuple(Term(j, low=0.5) for j in range(3)))
    np.testing.assert_array_equal(some.holds(X), X.sum(axis=1) >= m)


def test_an_empty_premise_is_true_of_all():
    assert Rule((), 1).covers(np.zeros((3, 3))).all()
    assert Rule((), 1).sentence(SCHEMA) == "In all cases granted."


def test_narrowing_changes_no_cover():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(18, 91, 500), rng.normal(size=500), rng.integers(0, 10, 500)])
    some = AtLeast(1, (Term(0, high=40.0), Term(1, low=0.0)))
    long = (Term(0, low=25.0), Term(2, codes=(1, 2, 3, 4)), some, Term(0, high=70.0), Term(2, codes=(2, 4, 6)), some)
    short = narrowed(long)
    assert len(short) == 3
    np.testing.assert_array_equal(Rule(short, 0).covers(X), Rule(long, 0).covers(X))


def test_support_and_the_rules_that_speak_of_few():
    X = np.array([[20.0, 1.0, 0], [30.0, 1.0, 0], [40.0, 1.0, 0], [50.0, 1.0, 1]])
    rules = [Rule((Term(0, high=35.0),), 0), Rule((Term(2, codes=(1,)),), 1), Rule((Term(2, codes=(5,)),), 1)]
    np.testing.assert_array_equal(support(rules, X), [2, 1, 0])
    np.testing.assert_array_equal(exposing(rules, X, 2), [False, True, False])
    np.testing.assert_array_equal(exposing(rules, X, 3), [True, True, False])
    assert support([], X).shape == (0,)
    with pytest.raises(JaliError, match="k must be at least 1"):
        exposing(rules, X, 0)


class Book:
    """A model that can be read."""

    def __init__(self, *rules: Rule) -> None:
        self.told = rules

    def logits(self, X):
        return np.zeros((len(X), 2))

    def rules(self):
        return self.told


def random_rule(rng) -> Rule:
    low, town = float(rng.integers(18, 60)), tuple(int(c) for c in rng.choice(10, 6, replace=False))
    some = AtLeast(2, (Term(0, low=40.0), Term(1, high=0.5), Term(2, codes=(1, 2, 3))))
    terms = (Term(0, low, low + 30.0), Term(1, high=float(rng.normal())), Term(2, codes=town), some)
    return Rule(tuple(terms[i] for i in rng.choice(4, 2, replace=False)), int(rng.integers(2)))


def obeys(rule: Rule, row) -> bool:
    """The meaning of a rule, spelt out for one row."""

    def true(c) -> bool:
        if isinstance(c, AtLeast):
            return sum(true(t) for t in c.terms) >= c.m
        return row[c.column] in c.codes if c.codes is not None else c.low < row[c.column] <= c.high

    return all(true(c) for c in rule.premise)


def test_coverage_and_exposure_are_what_counting_by_hand_gives():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(18, 91, 60), rng.normal(size=60), rng.integers(0, 10, 60)])
    rules = [random_rule(rng) for _ in range(40)]
    counted = [sum(obeys(rule, row) for row in X.tolist()) for rule in rules]
    assert min(counted) < 5 < max(counted)
    np.testing.assert_array_equal(support(rules, X), counted)
    for k in (1, 2, 5, 10, 61):
        np.testing.assert_array_equal(exposing(rules, X, k), [0 < c < k for c in counted])
    models = [Book(*rules[:20]), Book(*rules[20:])]
    which = rng.integers(0, 2, 30)
    own = [
        [c for r, c in zip(rules, counted, strict=True) if r in models[w].told and obeys(r, row)]
        for w, row in zip(which, X[:30].tolist(), strict=True)
    ]
    made = Surrogate(tuple(models), which, np.ones(30, bool))
    np.testing.assert_array_equal(rule_support(made, X[:30], X), [found[0] if found else 0 for found in own])


def test_a_rule_that_two_people_are_told_is_published_once():
    one, other = Rule((Term(0, high=30.0),), 0), Rule((Term(0, low=30.0),), 1)
    local = Surrogate((Book(one, other), Above(0, 30.0), Book(other)), [0, 1, 2], [True, False, True])
    assert published(local) == (one, other)
    np.testing.assert_array_equal(rule_support(local, np.full((3, 3), 40.0), np.full((5, 3), 50.0)), [5, 0, 5])


@pytest.mark.parametrize(
    ("premise", "said"),
    [
        ((Term(0, low=30.5),), "If age were at least 31 (now 25), the outcome would be granted."),
        (
            (Term(1, high=1000.0), Term(0, high=40.0), Term(2, codes=tuple(range(1, 10)))),
            "If income were at most 1,000 (now 1,234.5) and town were not a (now a), the outcome would be granted.",
        ),
        (
            (AtLeast(2, (Term(0, low=30.0), Term(1, high=5.0), Term(2, codes=(0,)))),),
            "If at least 2 of (age were at least 31; income were at most 5; town were a) (now 25; 1,234.5; a), "
            "the outcome would be granted.",
        ),
        ((Term(0, low=20.0),), "Nothing would have to change for the outcome to be granted."),
    ],
)
def test_changes_name_what_is_not_yet_so(premise, said):
    assert Rule(premise, 1).change(np.array([25.0, 1234.5, 0.0]), SCHEMA) == said


def test_fidelity_and_accuracy_are_two_things():
    X = np.array([[20.0, 1.0, 0], [30.0, 1.0, 0], [40.0, 1.0, 0], [50.0, 1.0, 1]])
    box, other = Above(0, 25.0), Above(0, 35.0)
    assert fidelity(other, box, X) == 0.75
    assert accuracy(other, X, np.array([0, 0, 0, 1])) == 0.75
    assert accuracy(box, X, np.array([0, 0, 0, 1])) == 0.5
    with pytest.raises(JaliError, match="there are none"):
        fidelity(other, box, X[:0])


def test_hits_ask_each_record_own_model():
    X = np.array([[20.0, 1.0, 0], [30.0, 1.0, 0]])
    local = Surrogate((Above(0, 35.0), Above(0, 25.0)), [1, 0], [True, True])
    np.testing.assert_array_equal(hits(local, Above(0, 25.0), X), [True, False])
