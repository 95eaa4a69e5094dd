from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from jali.core import registry
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Dataset
from jali.explain.tree_surrogate import TreeSurrogate
from jali.text.rules import accuracy, exposing, fidelity, support
from tests.contracts.test_explain import people
from tests.explaining import explained


def setting(n: int = 500):
    data = people(n, 0)
    model = registry.build("model", "logistic").fit(data, np.ones((n, 1), bool), [np.random.default_rng(0)])[0]
    return data, model


def explain(model, train, X=None, **fields):
    rows = train.X if X is None else X
    return explained(TreeSurrogate(**fields), model, rows, train.schema, train, np.random.default_rng(0))


def test_it_is_the_tree_of_scikit_learn_on_the_black_box_labels():
    data, model = setting()
    new, encode = people(300, 1).X + np.array([0.3, 0, 0.3, 0]), Encoding(data.schema).encode  # on no bound
    oracle = DecisionTreeClassifier(max_depth=4, random_state=0).fit(
        encode(data.X), model.logits(data.X).argmax(axis=1)
    )
    made = explain(model, data, new, depth=4)
    np.testing.assert_array_equal(made.models[0].logits(new).argmax(axis=1), oracle.predict(encode(new)))
    assert made.found.all()
    assert set(made.which) == {0}


def test_with_true_labels_it_is_the_tree_of_the_outcomes():
    data, model = setting()
    tree = explain(model, data, labels="true", depth=0).models[0]
    assert accuracy(tree, data.X, data.y) == 1.0
    assert fidelity(tree, model, data.X) == accuracy(model, data.X, data.y) < 1.0


def test_any_depth_errs_on_no_training_row():
    data, model = setting()
    assert fidelity(explain(model, data, depth=0).models[0], model, data.X) == 1.0


def test_leaves_hold_as_many_people_as_asked_for():
    data, model = setting()
    few, many = (explain(model, data, depth=0, leaf=leaf).models[0].rules() for leaf in (1, 20))
    assert support(many, data.X).min() >= 20
    assert not exposing(many, data.X, 20).any()
    assert exposing(few, data.X, 20).any()
    assert support(few, data.X).sum() == len(data)


def test_tiles_get_the_same_tree():
    data, model = setting()
    one, other = explain(model, data, data.X[:10]), explain(model, data, data.X[10:])
    assert one.models[0].rules() == other.models[0].rules()


def test_bad_input():
    data, model = setting(60)
    with pytest.raises(JaliError, match=r"tree_surrogate reads the training set, but none was given: pass it as train"):
        explained(TreeSurrogate(), model, data.X, data.schema, None, np.random.default_rng(0))
    for fields in ({"depth": -1}, {"leaf": 0}):
        with pytest.raises(JaliError, match="depth must be at least 0 and leaf at least 1"):
            TreeSurrogate(**fields)
    one = Dataset(np.repeat(data.X[:1], 5, axis=0), np.zeros(5), data.schema)
    assert len(explain(model, one).models[0].rules()) == 1
    assert len(explain(model, data, data.X[:0]).which) == 0
