"""Parameters are chosen by cross-validation on the rows of each model alone."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema
from jali.models.tuned import Tuned


def striped(n=400, seed=0):
    """Classes that need three cuts of one column: a stump is wrong for half of them."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 4, size=(n, 1))
    return Dataset(X, X[:, 0].astype(int) % 2, Schema((Column("x", low=0, high=4, centre=2),)))


TREE = Tuned("sklearn.tree:DecisionTreeClassifier", "max_depth=[1, 4]")


def fit(part, data, seed=0):
    return part.fit(data, np.ones((len(data), 1), dtype=bool), [np.random.default_rng(seed)])[0]


def test_the_better_value_wins():
    data = striped()
    assert (fit(TREE, data).logits(data.X).argmax(axis=1) == data.y).mean() > 0.98
    model = fit(Tuned("sklearn.tree:DecisionTreeClassifier", "max_depth=[1]"), data)
    assert (model.logits(data.X).argmax(axis=1) == data.y).mean() < 0.8


def test_it_is_what_plain_cross_validation_would_choose():
    data = striped(seed=3)
    depths = (1, 2, 4)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    plain = [cross_val_score(DecisionTreeClassifier(max_depth=d), data.X, data.y, cv=folds).mean() for d in depths]
    model = fit(Tuned("sklearn.tree:DecisionTreeClassifier", "max_depth=[1, 2, 4]"), data)
    assert model.estimator.max_depth == depths[int(np.argmax(plain))]


def test_a_model_is_the_same_beside_others_and_tunes_on_few_rows():
    data, rngs = striped(), [np.random.default_rng(j) for j in range(2)]
    part = Tuned("sklearn.tree:DecisionTreeClassifier", "max_depth=[1, 4]", most=100)
    member = np.random.default_rng(5).random((400, 2)) < 0.5
    both = part.fit(data, member, rngs)
    alone = part.fit(data, member[:, 1:], [np.random.default_rng(1)])
    np.testing.assert_array_equal(both[1].logits(data.X), alone[0].logits(data.X))


@pytest.mark.parametrize(
    ("part", "says"),
    [
        (Tuned("sklearn.tree:DecisionTreeClassifier", "max_depth=3"), "grid must list the values"),
        (Tuned("sklearn.tree:DecisionTreeClassifier", ""), "grid must list the values"),
        (Tuned("sklearn.tree:DecisionTreeClassifier", "max_depth=[1]", folds=300), "use fewer folds"),
        (Tuned("sklearn.tree:DecisionTreeClassifier", "deep=[1, 3]"), "does not take grid='deep=.*Invalid parameter"),
        (Tuned("sklearn.tree:DecisionTreeClassifier", "max_depth=[-1, 3]"), "does not take grid=.*'max_depth' param"),
    ],
)
def test_says_what_is_wrong(part, says):
    with pytest.raises(JaliError, match=says):
        fit(part, striped())


@pytest.mark.parametrize("sizes", [{"folds": 1}, {"most": -1}])
def test_sizes_are_checked(sizes):
    with pytest.raises(JaliError, match="folds must be at least 2 and most at least 0"):
        Tuned("sklearn.tree:DecisionTreeClassifier", "max_depth=[1]", **sizes)
