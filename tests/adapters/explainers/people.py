"""A small table of people with text and numbers, a model of a user's, and the model as an audit holds it."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from jali.data.tables.in_memory import OwnTables
from jali.models.given import Given


def table(n: int = 120, seed: int = 0):
    """Rows as a frame with a text column, and labels with much noise."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.integers(18, 80, n), "income": rng.normal(30, 9, n)})
    X["city"] = np.array(["Ghent", "Lyon", "Porto"])[rng.integers(0, 3, n)]
    y = np.where((X["income"] + 5 * (X["city"] == "Lyon") + rng.normal(0, 9, n)) > 31, "yes", "no")
    return X, y


def numbers(n: int = 120, seed: int = 0, columns: int = 3):
    """Rows as an array of numbers, and labels with much noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns)).round(3)
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


@functools.cache
def setting(kind: str = "frame", favourable=None, n: int = 120):
    """A user's fitted model, its training rows, and both as the audit holds them: (model, view of it, train)."""
    if kind == "frame":
        X, y = table(n)
        coded = make_column_transformer((OneHotEncoder(), ["city"]), remainder="passthrough")
        model = make_pipeline(coded, RandomForestClassifier(5, random_state=0)).fit(X, y)
        other = table(60, 1)
    else:
        X, y = numbers(n)
        model = LogisticRegression().fit(X, y)
        other = numbers(60, 1)
    source = OwnTables((X, y), other, favourable)
    data = source.load()
    ours = Given(model, source.inputs(), source.like()).existing(data)
    return model, ours, data.rows(np.arange(len(data)) < n)
