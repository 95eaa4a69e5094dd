"""Missing values, texts, dates and truth values pass through an audit as they are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import jali
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Column, Schema
from jali.data.tables.in_memory import OwnTables
from jali.data.tables.model_inputs import Rebuilder
from jali.explain.kernel_shap import KernelShap
from jali.models.given import Given


def people(n, seed):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "income": np.where(rng.random(n) < 0.2, np.nan, rng.normal(3000, 900, n)),
            "rooms": pd.array(rng.integers(1, 5, n), dtype="Int64"),
            "job": rng.choice(np.array(["clerk", "nurse", None], dtype=object), n),
            "member": rng.random(n) < 0.5,
            "opened": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
            "grade": pd.Categorical(rng.choice(np.array(["a", "b", None], dtype=object), n)),
        }
    )
    table.loc[::7, "rooms"] = pd.NA
    table.loc[::9, "opened"] = pd.NaT
    table["seen"] = table.opened.dt.strftime("%Y-%m-%d")
    return table, np.where(rng.random(n) < 0.5, "yes", "no")


def test_rows_are_rebuilt_value_by_value():
    (X, y), (P, q) = people(80, 0), people(90, 1)
    own = OwnTables((X, y), (P, q), None)
    data = own.load()
    assert [c.name for c in data.schema.columns if c.missing] == ["income", "rooms", "opened", "seen"]
    assert data.schema.columns[3].categories == ("clerk", "missing", "nurse")
    rebuilt = Rebuilder(data.schema, "frame", own.like())(data.X)
    whole = pd.concat([X, P], ignore_index=True)
    pd.testing.assert_frame_equal(rebuilt, whole.astype({"grade": rebuilt.grade.dtype}))


def test_missing_numbers_have_a_feature_of_their_own():
    columns = (Column("a", centre=2.0, spread=2.0, missing=True), Column("c", "category", categories=("x", "y")))
    encoding = Encoding(Schema((*columns, Column("b"))))
    X = np.array([[4.0, 1.0, 5.0], [np.nan, 0.0, 6.0]])
    Z = encoding.encode(X)
    assert Z.tolist() == [[1.0, 0.0, 1.0, 5.0, 0.0], [0.0, 1.0, 0.0, 6.0, 1.0]]
    np.testing.assert_array_equal(encoding.decode(Z), X)
    assert encoding.names == ("a", "c=x", "c=y", "b", "a missing")
    assert encoding.movable().tolist() == [True, False, False, True, False]
    assert (encoding.bounds()[0][-1], encoding.bounds()[1][-1]) == (0.0, 1.0)


def test_a_pipeline_that_fills_them_is_audited_and_ours_that_cannot_read_them_say_so():
    (X, y), (P, q) = people(150, 0), people(300, 1)
    words = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
    columns = make_column_transformer((words, ["job", "grade"]), (SimpleImputer(), ["age", "income"]))
    model = make_pipeline(columns, DecisionTreeClassifier(random_state=0)).fit(X, y)
    settings = {"game": "given_model(members=150, shadows=1)", "attack": ["threshold"]}
    found = jali.audit(model, (X, y), (P, q), **settings)
    accuracy = found.results.find(metric="train_accuracy")[0]
    assert accuracy.value == pytest.approx((model.predict(X) == y).mean())
    leak = found.results.find(metric="auc", signal="loss", attack="threshold")[0]
    assert leak.low < 0.75 < leak.high  # labels are noise: the tree is right about all members and half of the others
    assert any("'opened' holds dates" in w for w in found.results.warnings)
    own = OwnTables((X, y), (P, q), None)
    data = own.load()
    rng = np.random.default_rng(0)
    existing = Given(model, "frame", own.like()).existing(data)
    value = KernelShap(budget=0, background=1).prepare(existing, data.schema, None, rng).explain(data.X[:40], rng).value
    assert np.isfinite(value).all()
    assert value[np.isnan(data.X[:40, 1]), 1].any()  # a missing income has an attribution too
    with pytest.raises(
        JaliError, match=r"nice cannot explain rows with missing numbers, and column 'income'.*kernel_shap"
    ):
        jali.audit(model, (X, y), (P, q), explain=["nice"], **settings)
