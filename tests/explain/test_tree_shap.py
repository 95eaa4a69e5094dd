from __future__ import annotations

import dataclasses
import sys

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from jali.core import registry
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema
from jali.explain._attribution.slopes import public_rows
from jali.explain.tree_shap import TreeShap
from jali.models.fitted.linear import LinearModel
from jali.models.given import Given
from tests.explain.shapley import replaced, shapley
from tests.explaining import explained

COLUMNS = (Column("a"), Column("b", spread=3.0), Column("c"), Column("d", "category", categories=("x", "y", "z")))
TREES = {
    "tree:DecisionTreeClassifier": "max_depth=5",
    "ensemble:RandomForestClassifier": "n_estimators=10",
    "ensemble:ExtraTreesClassifier": "n_estimators=10, max_depth=6",
    "ensemble:GradientBoostingClassifier": "n_estimators=20",
    "ensemble:HistGradientBoostingClassifier": "max_iter=20",
}
BOOSTED = "Boosting"


def table(classes: int, n: int = 250) -> Dataset:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(n, 3)) * [1, 3, 1], rng.integers(0, 3, n)])
    score = X[:, 0] * X[:, 1] + X[:, 3] + rng.normal(size=n) / 2
    return Dataset(X, np.digitize(score, [1.0, 3.0][: classes - 1]), Schema(COLUMNS, tuple("012"[:classes])))


def fitted(name: str, data: Dataset):
    trainer = registry.build("model", f'sklearn(estimator="sklearn.{name}", params="{TREES[name]}")')
    return trainer.fit(data, np.ones((len(data), 1), bool), [np.random.default_rng(0)])[0]


def explain(model, data, n=40, **fields):
    return explained(TreeShap(**fields), model, data.X[:n], data.schema, None, np.random.default_rng(0)).value


def answer(model, X, of):
    """Logit of a class for boosted trees, its probability for all others."""
    logits = model.logits(X)[np.arange(len(X)), of]
    return logits if BOOSTED in model.name else np.exp(logits)


@pytest.mark.parametrize("background", [0, 5])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", TREES)
def test_the_values_add_up_to_the_prediction(name, classes, background):
    data = table(classes)
    if (name, classes) == ("ensemble:GradientBoostingClassifier", 3):
        with pytest.raises(JaliError, match=r"tree_shap cannot read this GradientBoostingClassifier: .*binary"):
            explain(fitted(name, data), data)
        return
    model = fitted(name, data)
    top = model.logits(data.X[:40]).argmax(axis=1)
    rest = answer(model, data.X[:40], top) - explain(model, data, background=background).sum(axis=1)
    for number in np.unique(top):
        np.testing.assert_allclose(rest[top == number], rest[top == number][0], atol=1e-5)
    if background:
        public, whole = public_rows(data.schema, background), np.full(background, top[0])
        assert rest[0] == pytest.approx(answer(model, public, whole).mean(), abs=1e-5)


@pytest.mark.parametrize("name", ["ensemble:RandomForestClassifier", "ensemble:GradientBoostingClassifier"])
def test_public_rows_give_the_values_of_the_definition(name):
    data = table(2)
    model, encoding = fitted(name, data), Encoding(data.schema)
    X = data.X[:15]
    top = model.logits(X).argmax(axis=1)

    def told(Z):
        scores = model.estimator.decision_function(Z) / 2 if BOOSTED in name else model.estimator.predict_proba(Z)
        return scores[np.arange(15), top] if scores.ndim == 2 else np.where(top == 1, scores, -scores)

    game = replaced(told, encoding.encode(X), encoding.encode(public_rows(data.schema, 4)))
    np.testing.assert_allclose(explain(model, data, 15, background=4), shapley(game, 6), atol=1e-5)


def test_without_public_rows_branches_count_as_often_as_training_rows_took_them():
    data = table(2)
    model, X = fitted("tree:DecisionTreeClassifier", data), data.X[:15]
    Z, top, tree = Encoding(data.schema).encode(X), model.logits(X).argmax(axis=1), model.estimator.tree_

    def told(known, i, node=0):
        left, right, at = tree.children_left[node], tree.children_right[node], tree.feature[node]
        if left < 0:
            counts = tree.value[node][0]
            return counts[top[i]] / counts.sum()
        if known[at]:
            return told(known, i, left if np.float32(Z[i, at]) <= tree.threshold[node] else right)
        size = tree.n_node_samples
        return (size[left] * told(known, i, left) + size[right] * told(known, i, right)) / size[node]

    game = lambda known: np.array([told(known, i) for i in range(15)])  # noqa: E731
    np.testing.assert_allclose(explain(model, data, 15), shapley(game, 6), atol=1e-6)


def test_trees_that_read_codes_give_a_category_s_value_to_the_one_the_record_has():
    data = table(2)
    forest = RandomForestClassifier(10, random_state=0).fit(data.X, data.y)
    model = Given(forest, inputs="array").existing(data)
    found, one_hot = explain(model, data), Encoding(data.schema).encode(data.X[:40])[:, 3:]
    assert found.shape == (40, 6)
    assert not found[:, 3:][one_hot == 0].any()
    top = model.logits(data.X[:40]).argmax(axis=1)
    rest = answer(model, data.X[:40], top) - found.sum(axis=1)
    assert np.ptp(rest[top == 1]) < 1e-6


def test_classes_are_those_of_the_schema():
    whole = table(3)
    data = Dataset(whole.X, np.where(whole.y == 0, 0, 2), whole.schema)  # class 1 was never seen
    model = fitted("ensemble:RandomForestClassifier", data)
    top = model.logits(data.X[:40]).argmax(axis=1)
    rest = answer(model, data.X[:40], top) - explain(model, data).sum(axis=1)
    assert set(top) == {0, 2}
    assert np.ptp(rest[top == 2]) < 1e-6


def test_models_without_trees_are_refused_with_the_explainers_that_fit():
    data = table(2)
    linear = LinearModel(Encoding(data.schema), np.ones((6, 2)), np.zeros(2))
    with pytest.raises(JaliError, match=r"tree_shap needs trees .* LinearModel has none: .*saliency"):
        explain(linear, data)
    pipeline = make_pipeline(StandardScaler(), HistGradientBoostingClassifier(max_iter=5)).fit(data.X, data.y)
    with pytest.raises(JaliError, match=r"Pipeline has none: .*outside a pipeline"):
        explain(Given(pipeline, inputs="array").existing(data), data)


def test_trees_that_read_texts_are_refused():
    data = table(2)
    model = fitted("tree:DecisionTreeClassifier", data)
    texts = dataclasses.replace(model, feed=lambda X: np.full((len(X), 4), "x"))
    with pytest.raises(JaliError, match="tree_shap needs numeric inputs, but DecisionTreeClassifier reads text"):
        explain(texts, data)


def test_without_the_library_one_sentence_says_how_to_get_it(monkeypatch):
    data = table(2)
    model = fitted("tree:DecisionTreeClassifier", data)
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(JaliError, match="tree_shap needs shap, which is not installed: pip install"):
        explain(model, data)


def test_bad_fields_are_refused():
    with pytest.raises(JaliError, match="background must be at least 0, not -1"):
        TreeShap(background=-1)
