from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.registry import build, spec
from jali.core.values import Column, Dataset, Schema
from jali.models.fitted.linear import LinearEnsemble
from jali.models.sklearn import Sklearn


class Scaled(Pipeline):
    """A pipeline that can be made without arguments."""

    def __init__(self, steps=None, *, transform_input=None, memory=None, verbose=False):
        steps = steps or [("scale", StandardScaler()), ("sgd", SGDClassifier(loss="log_loss"))]
        super().__init__(steps, transform_input=transform_input, memory=memory, verbose=verbose)


def table(n=150, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(5.0, 2.0, n), rng.integers(20, 70, n), rng.integers(0, 3, n)])
    columns = (
        Column("x", centre=5.0, spread=2.0),
        Column("age", "integer", 20, 69, 45.0, 14.0),
        Column("c", "category", 0, 2, categories=("a", "b", "c")),
    )
    y = (X[:, 0] + X[:, 2] + rng.normal(size=n) > 6).astype(int)
    y = y + (X[:, 1] > 55) if classes == 3 else y
    return Dataset(X, y, Schema(columns, tuple("pqr"[:classes])))


def streams(m, seed=0):
    return [np.random.default_rng([seed, j]) for j in range(m)]


def members(n, m):
    return np.random.default_rng(1).random((n, m)) < 0.6


@pytest.mark.parametrize("classes", [2, 3])
def test_linear_estimators_come_back_linear(classes):
    data, member = table(classes=classes), members(150, 2)
    fitted = Sklearn("sklearn.linear_model:LogisticRegression", "C=0.5").fit(data, member, streams(2))
    assert isinstance(fitted, LinearEnsemble)
    Z = Encoding(data.schema).encode(data.X)
    for j in range(2):
        peer = LogisticRegression(C=0.5).fit(Z[member[:, j]], data.y[member[:, j]])
        odds = np.exp(fitted.logits(data.X)[:, j])
        np.testing.assert_allclose(odds / odds.sum(axis=1, keepdims=True), peer.predict_proba(Z), atol=1e-9)


def test_forests_are_seeded_by_the_stream_alone():
    data, member = table(classes=3), members(150, 3)
    part = Sklearn("sklearn.ensemble:RandomForestClassifier", "n_estimators=5, max_depth=3")
    whole = part.fit(data, member, streams(3)).logits(data.X)
    alone = part.fit(data, member[:, [2]], [streams(3)[2]]).logits(data.X)
    other = part.fit(data, member[:, [2]], [streams(3, seed=9)[2]]).logits(data.X)
    np.testing.assert_array_equal(alone[:, 0], whole[:, 2])
    assert not np.array_equal(other, alone)
    state = int(streams(3)[2].integers(2**31 - 1))
    Z, mine = Encoding(data.schema).encode(data.X), member[:, 2]
    peer = RandomForestClassifier(n_estimators=5, max_depth=3, random_state=state).fit(Z[mine], data.y[mine])
    np.testing.assert_allclose(np.exp(alone[:, 0]), np.clip(peer.predict_proba(Z), 1e-12, 1))


@pytest.mark.parametrize(
    ("estimator", "params"),
    [
        (
            "sklearn.neural_network:MLPClassifier",
            "hidden_layer_sizes=(9,), learning_rate_init=0.05, tol=0.03, n_iter_no_change=5",
        ),
        ("sklearn.ensemble:GradientBoostingClassifier", "n_estimators=5"),
        ("sklearn.svm:SVC", "kernel='linear'"),
        ("sklearn.svm:LinearSVC", ""),
        ("sklearn.naive_bayes:GaussianNB", ""),
        ("sklearn.calibration:CalibratedClassifierCV", "cv=2"),
    ],
)
@pytest.mark.parametrize("classes", [2, 3])
def test_any_classifier(estimator, params, classes):
    data = table(classes=classes)
    fitted = Sklearn(estimator, params).fit(data, members(150, 2), streams(2))
    logits = fitted.logits(data.X)
    assert logits.shape == (150, 2, classes)
    assert np.isfinite(logits).all()
    np.testing.assert_array_equal(fitted[1].logits(data.X), logits[:, 1])
    assert (logits.argmax(axis=2) == data.y[:, None]).mean() > 0.4
    assert fitted[0].encoding == Encoding(data.schema)


def test_a_pipeline_of_ones_own_is_seeded_and_probed():
    data, member = table(), members(150, 1)
    path = f"{__name__}:Scaled"
    first = Sklearn(path).fit(data, member, streams(1))
    again = Sklearn(path).fit(data, member, streams(1))
    other = Sklearn(path).fit(data, member, streams(1, seed=5))
    np.testing.assert_array_equal(first.logits(data.X), again.logits(data.X))
    assert not np.array_equal(first.logits(data.X), other.logits(data.X))
    linear = first[0].linear(data.schema)
    np.testing.assert_allclose(linear.logits(data.X), first[0].logits(data.X), atol=1e-8)


@pytest.mark.parametrize(
    "path", ["sklearn.linear_model:LogisticRegression", "sklearn.tree:DecisionTreeClassifier", "sklearn.svm:LinearSVC"]
)
def test_a_class_that_was_not_seen_is_all_but_impossible(path):
    data = table(classes=3)
    member = (data.y != 1)[:, None]
    logits = Sklearn(path).fit(data, member, streams(1))[0].logits(data.X[member[:, 0]])
    assert (logits.argmax(axis=1) != 1).all()
    assert (logits[:, 1] <= logits.max(axis=1) + np.log(1e-12) + 1e-9).all()


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (Sklearn("sklearn.ensemble:RandomForest"), "there is no estimator"),
        (Sklearn("nowhere_at_all:Model"), "there is no estimator"),
        (Sklearn("RandomForestClassifier"), "there is no estimator"),
        (Sklearn("sklearn.preprocessing:StandardScaler"), "must be a class with fit"),
        (Sklearn("sklearn.base:clone"), "must be a class with fit"),
        (Sklearn("sklearn.svm:OneClassSVM"), "must be a classifier"),
        (Sklearn("sklearn.tree:DecisionTreeClassifier", "max_depth=int('3')"), "plain values"),
        (Sklearn("sklearn.tree:DecisionTreeClassifier", "max_depth=3)(a=1"), "plain values"),
        (Sklearn("sklearn.tree:DecisionTreeClassifier", "**{'max_depth': 3}"), "plain values"),
        (Sklearn("sklearn.tree:DecisionTreeClassifier", "3"), "plain values"),
        (Sklearn("sklearn.tree:DecisionTreeClassifier", "depth=3"), "does not take"),
        (Sklearn("sklearn.tree:DecisionTreeClassifier", "max_depth='deep'"), "could not be fitted"),
    ],
)
def test_bad_input_is_explained(part, words):
    with pytest.raises(JaliError, match=words):
        part.fit(table(), members(150, 1), streams(1))


def test_one_class_is_refused():
    data = table()
    with pytest.raises(JaliError, match="1 of 1 models lack members of two classes"):
        Sklearn("sklearn.tree:DecisionTreeClassifier").fit(data, (data.y == 1)[:, None], streams(1))


def test_the_specification_comes_back():
    text = 'sklearn(estimator="sklearn.ensemble:RandomForestClassifier", params="n_estimators=50, max_depth=4")'
    assert spec(build("model", text)) == text
