from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from jali.core.errors import JaliError
from jali.core.values import Column, Schema
from jali.models.fitted.estimator import Several, _forest, _probability, fitted, seeded

X = np.random.default_rng(0).normal(size=(60, 2))
Y = (X[:, 0] > 0).astype(int)
SCHEMA = Schema((Column("a"), Column("b")), ("no", "yes", "never"))


def made(estimator, labels=Y, position=(0, 1)):
    return fitted(estimator.fit(X, labels), np.asarray, SCHEMA, np.array(position), X)


def test_every_random_state_is_drawn_however_deep():
    nest = make_pipeline(BaggingClassifier(DecisionTreeClassifier(random_state=0), random_state=0))
    params = seeded(nest, np.random.default_rng(3)).get_params()
    draws = np.random.default_rng(3).integers(2**31 - 1, size=2)
    assert params["baggingclassifier__estimator__random_state"] == draws[0]
    assert params["baggingclassifier__random_state"] == draws[1]


@pytest.mark.parametrize(
    ("estimator", "scored"),
    [
        (LogisticRegression(), True),
        (GradientBoostingClassifier(n_estimators=3), True),
        (SVC(), True),
        (RandomForestClassifier(n_estimators=3), False),
    ],
)
def test_what_counts_as_a_logit(estimator, scored):
    assert made(estimator).scored is scored


def test_one_against_the_rest_is_no_softmax():
    labels = np.digitize(X[:, 0], [-0.5, 0.5])
    assert made(LogisticRegression(), labels, (0, 1, 2)).scored
    assert not made(OneVsRestClassifier(LogisticRegression()), labels, (0, 1, 2)).scored


def test_classes_are_placed_and_the_missing_one_is_far_away():
    model = made(DecisionTreeClassifier(max_depth=1), position=(2, 0))
    logits = model.logits(X)
    np.testing.assert_allclose(logits[:, 1], np.log(1e-12))
    np.testing.assert_array_equal(logits.argmax(axis=1), np.where(Y == 1, 0, 2))
    scores = made(LogisticRegression()).logits(X)
    np.testing.assert_allclose(scores[:, 2], scores[:, :2].min(axis=1) + np.log(1e-12))


def test_several_models_are_stacked():
    one, two = made(LogisticRegression()), made(DecisionTreeClassifier())
    both = Several([one, two])
    assert len(both) == 2
    np.testing.assert_array_equal(both.logits(X)[:, 1], two.logits(X))
    assert both[0].name == "LogisticRegression"


@pytest.mark.parametrize("forest", [RandomForestClassifier(9, random_state=0), ExtraTreesClassifier(9, random_state=0)])
def test_trees_asked_one_by_one_say_what_their_forest_says(forest):
    forest.fit(X, Y + (X[:, 1] > 1))
    assert np.array_equal(_forest(forest, X), forest.predict_proba(X))


def test_a_forest_is_asked_itself_where_it_would_refuse_or_use_more_cores():
    forest = RandomForestClassifier(3, random_state=0).fit(X, Y)
    assert _forest(forest, X[:, :1]) is None
    assert _forest(forest, X * np.inf) is None
    assert _forest(forest.set_params(n_jobs=2), X) is None
    assert _forest(DecisionTreeClassifier().fit(X, Y), X) is None
    with pytest.raises(JaliError, match="cannot read rows"):
        made(RandomForestClassifier(3)).logits(X[:, :1])


@pytest.mark.parametrize("last", [RandomForestClassifier(9, random_state=0), DecisionTreeClassifier(random_state=0)])
def test_tables_and_pipelines_give_the_same_probabilities_to_the_bit(last):
    table = pd.DataFrame(X, columns=["a", "b"]).assign(c=np.arange(60) % 7)
    whole = pd.DataFrame({"a": np.arange(60) % 5})
    for estimator, rows in (
        (last, table),
        (make_pipeline(StandardScaler(), last), table),
        (make_pipeline(OneHotEncoder(), last), whole),
        (make_pipeline(last), table),
    ):
        estimator.fit(rows, Y)
        assert np.array_equal(_probability(estimator, rows), estimator.predict_proba(rows))


def test_a_forest_in_a_pipeline_is_asked_tree_by_tree(monkeypatch):
    pipeline = make_pipeline(StandardScaler(), RandomForestClassifier(3, random_state=0)).fit(X, Y)
    expected = pipeline.predict_proba(X)
    monkeypatch.setattr(RandomForestClassifier, "predict_proba", None)
    assert np.array_equal(_probability(pipeline, X), expected)


def test_columns_in_another_order_are_left_to_scikit_learn():
    table = pd.DataFrame(X, columns=["a", "b"])
    forest = RandomForestClassifier(3, random_state=0).fit(table, Y)
    assert _forest(forest, table) is not None
    assert _forest(forest, table[["b", "a"]]) is None
    assert _forest(forest, table.astype(str)) is None


def test_a_scaler_that_changes_the_rows_in_place_changes_no_score():
    rng = np.random.default_rng(0)
    X = 3.0 + 2.0 * rng.normal(size=(40, 2))
    y = (X[:, 0] > 3).astype(int)
    schema = Schema((Column("a"), Column("b")))
    both = [make_pipeline(StandardScaler(copy=copy), LogisticRegression()).fit(X.copy(), y) for copy in (True, False)]
    kept, changed = (fitted(model, np.array, schema, np.arange(2), X.copy()).logits(X) for model in both)
    np.testing.assert_array_equal(kept, changed)
