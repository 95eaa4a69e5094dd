from __future__ import annotations

import numpy as np
import pytest

from jali.core import registry
from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema
from jali.explain.tree_paths import TreePaths
from tests.explain.test_tree_shap import TREES, fitted, table
from tests.explaining import explained

PLAIN = [name for name in TREES if "Boosting" not in name]


def explain(model, data, n=60):
    return explained(TreePaths(), model, data.X[:n], data.schema, None, np.random.default_rng(0)).value


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", PLAIN)
def test_the_values_add_up_to_the_probability_of_the_predicted_class(name, classes):
    data = table(classes)
    model = fitted(name, data)
    logits = model.logits(data.X[:60])
    top = logits.argmax(axis=1)
    rest = np.exp(logits[np.arange(60), top]) - explain(model, data).sum(axis=1)
    for number in np.unique(top):  # what is left is the mean share at the roots, the same for everybody of a class
        np.testing.assert_allclose(rest[top == number], rest[top == number][0], atol=1e-5)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", PLAIN)
def test_the_values_are_those_of_the_shap_library(name, classes):
    shap = pytest.importorskip("shap")
    data = table(classes)
    model = fitted(name, data)
    rows = np.asarray(model.feed(data.X[:60]), dtype=np.float64)
    theirs = np.asarray(shap.TreeExplainer(model.estimator).shap_values(rows, approximate=True, check_additivity=False))
    top = model.logits(data.X[:60]).argmax(axis=1)
    at = np.searchsorted(model.position, top)
    np.testing.assert_allclose(explain(model, data), theirs[np.arange(60), :, at], atol=1e-5)


def test_a_tree_by_hand():
    """Three of four are in class 0. Where x is small everybody is, elsewhere y decides."""
    X = np.array([[-1.0, 0.0], [-1.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    data = Dataset(X, np.array([0, 0, 0, 1]), Schema((Column("x"), Column("y")), ("no", "yes")))
    trainer = registry.build("model", 'sklearn(estimator="sklearn.tree:DecisionTreeClassifier", params="")')
    model = trainer.fit(data, np.ones((4, 1), bool), [np.random.default_rng(0)])[0]
    found = explain(model, data, 4)
    first = model.estimator.tree_.feature[0]  # both columns split equally well, so chance decides which is first
    second = 1 - first
    last = found[3]  # class 1: 1/4 at the root, 1/2 after the first split, 1 after the second
    assert last[first] == pytest.approx(1 / 4)
    assert last[second] == pytest.approx(1 / 2)
    assert found[0][first] == pytest.approx(1 / 4)  # class 0: 3/4 at the root, all after the first split
    assert found[0][second] == 0


def test_boosted_trees_are_refused_with_advice():
    data = table(2)
    with pytest.raises(JaliError, match="not GradientBoostingClassifier: use tree_shap"):
        explain(fitted("ensemble:GradientBoostingClassifier", data), data)
    linear = registry.build("model", "logistic").fit(data, np.ones((250, 1), bool), [np.random.default_rng(0)])[0]
    with pytest.raises(JaliError, match="tree_paths needs trees"):
        explain(linear, data)
