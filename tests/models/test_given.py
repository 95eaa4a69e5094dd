"""A user's own pipeline: the target is that object, shadows are clones, linearity is found by asking."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

from jali.core.errors import JaliError
from jali.core.protocols import Differentiable, Linear
from jali.data.tables.frames import dataset, frame
from jali.models.given import Given


def people(n=300, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "income": rng.normal(3000.0, 900.0, n),
            "job": rng.choice(["clerk", "nurse", "smith"], n),
            "member": rng.random(n) < 0.5,
        }
    )
    score = table.age / 20 + table.income / 900 + (table.job == "nurse") + rng.normal(size=n)
    table["paid"] = np.where(score > score.median(), "yes", "no")
    return table


def pipeline(model):
    columns = ColumnTransformer(
        [("words", OneHotEncoder(), ["job", "member"]), ("numbers", StandardScaler(), ["age", "income"])]
    )
    return make_pipeline(columns, model)


def streams(m):
    return [np.random.default_rng(j) for j in range(m)]


def members(n, m):
    return np.random.default_rng(1).random((n, m)) < 0.5


def owned(model, n=300):
    """The table, its data set, and the model fitted on the first half."""
    table = people(n)
    data = dataset(table, "paid", favourable="yes")
    return data, pipeline(model).fit(table.drop(columns="paid")[: n // 2], table.paid[: n // 2])


def test_the_target_is_the_given_model():
    data, model = owned(LogisticRegression())
    target = Given(model).existing(data)
    assert target.estimator is model
    assert target.name == "Pipeline"
    logits = target.logits(data.X)
    np.testing.assert_allclose(2 * logits[:, 1], model.decision_function(frame(data.X, data.schema)))
    np.testing.assert_array_equal(logits[:, 0], -logits[:, 1])


def test_a_linear_pipeline_is_found_to_be_linear():
    data, model = owned(LogisticRegression())
    target = Given(model).existing(data)
    linear = target.linear(data.schema)
    assert isinstance(linear, Linear)
    assert isinstance(linear, Differentiable)
    truth = model.decision_function(frame(data.X, data.schema))
    np.testing.assert_allclose(2 * linear.logits(data.X)[:, 1], truth, atol=1e-9)
    by_hand = model[-1].coef_[0][:3]  # one-hot jobs of the pipeline, in the same order
    np.testing.assert_allclose(2 * linear.coef[2:5, 1], by_hand - by_hand.mean(), atol=1e-9)
    age = model[-1].coef_[0][5] / model[0].named_transformers_["numbers"].scale_[0]
    assert 2 * linear.coef[0, 1] == pytest.approx(age * data.schema.columns[0].spread)
    assert target.linear(data.schema) is linear


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(n_estimators=5, random_state=0),
        make_pipeline(PolynomialFeatures(2), LogisticRegression()),
    ],
    ids=["forest", "squares"],
)
def test_what_is_not_linear_is_not(model):
    data, fitted = owned(model)
    target = Given(fitted).existing(data)
    assert target.linear(data.schema) is None
    odds = np.exp(target.logits(data.X))
    np.testing.assert_allclose(
        odds / odds.sum(axis=1, keepdims=True), fitted.predict_proba(frame(data.X, data.schema)), atol=1e-9
    )


def test_three_classes_are_matched_by_name():
    table = people()
    table["paid"] = np.array(["b", "c", "a"])[table.age.to_numpy() % 3]
    data = dataset(table, "paid")
    model = pipeline(LogisticRegression()).fit(table.drop(columns="paid"), table.paid)
    target = Given(model).existing(data)
    rows = frame(data.X, data.schema)
    np.testing.assert_allclose(target.logits(data.X), model.decision_function(rows))
    np.testing.assert_allclose(target.linear(data.schema).logits(data.X), target.logits(data.X), atol=1e-8)
    assert (np.array(data.schema.classes)[target.logits(data.X).argmax(axis=1)] == model.predict(rows)).all()


def test_shadows_are_clones_fitted_on_their_members():
    data, model = owned(LogisticRegression(C=0.3))
    member = members(300, 2)
    shadows = Given(model).fit(data, member, streams(2))
    table = people()
    for j in range(2):
        mine = member[:, j]
        peer = pipeline(LogisticRegression(C=0.3)).fit(table.drop(columns="paid")[mine], table.paid[mine])
        assert (shadows[j].estimator.classes_ == ["no", "yes"]).all()
        np.testing.assert_allclose(
            2 * shadows.logits(data.X)[:, j, 1], peer.decision_function(frame(data.X, data.schema)), atol=1e-9
        )


def test_shadow_forests_draw_from_their_own_stream():
    data, model = owned(RandomForestClassifier(n_estimators=5, random_state=0))
    member = members(300, 3)
    whole = Given(model).fit(data, member, streams(3)).logits(data.X)
    alone = Given(model).fit(data, member[:, [2]], streams(3)[2:]).logits(data.X)
    np.testing.assert_array_equal(alone[:, 0], whole[:, 2])


def test_arrays_and_numbers_as_classes():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=80), "b": rng.normal(size=80)})
    table["y"] = (table.a > 0).astype(float)
    data = dataset(table, "y")
    model = LogisticRegression().fit(data.X, table.y)
    part = Given(model, inputs="array")
    np.testing.assert_allclose(2 * part.existing(data).logits(data.X)[:, 1], model.decision_function(data.X))
    assert part.fit(data, members(80, 1), streams(1))[0].estimator.classes_.dtype == float


def test_bad_models_are_explained():
    data, model = owned(LogisticRegression())
    table = people()
    with pytest.raises(JaliError, match="no classes_"):
        Given(pipeline(LogisticRegression())).existing(data)
    with pytest.raises(JaliError, match="cannot be cloned"):
        Given(SimpleNamespace(classes_=["no", "yes"])).fit(data, members(300, 1), streams(1))
    other = pipeline(LogisticRegression()).fit(table.drop(columns="paid"), table.paid.str.upper())
    with pytest.raises(JaliError, match="The model predicts 'NO'"):
        Given(other).existing(data)
    narrow = pipeline(LogisticRegression()).fit(table[table.job != "smith"], table.paid[table.job != "smith"])
    with pytest.raises(JaliError, match="cannot read rows of this table"):
        Given(narrow).existing(data)
    wider = dataset(table.assign(paid=np.where(table.age > 70, "late", table.paid)), "paid")
    with pytest.raises(JaliError, match="'late', which the model does not predict"):
        Given(model).fit(wider, members(300, 1), streams(1))
