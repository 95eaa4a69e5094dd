from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from jali.adapters.explainers.rows import read
from jali.adapters.explainers.user_view import TrainedHere, UserView
from jali.core.errors import JaliError

from .people import setting


def test_rows_in_the_users_form_come_back_as_they_were():
    for kind in ("frame", "array"):
        _, ours, train = setting(kind)
        X, legal = read(UserView.of(ours, train.schema).rows(train.X), train.schema)
        assert legal.all()
        np.testing.assert_array_equal(X, train.X)


def test_a_value_that_the_table_does_not_have_is_not_legal():
    _, _, train = setting()
    rows = pd.DataFrame({"city": ["Lyon", "Rome"], "income": [1.0, 2.0], "age": [30, 40], "outcome": [0, 1]})
    X, legal = read(rows, train.schema)
    assert legal.tolist() == [True, False]
    np.testing.assert_array_equal(X[0], [30.0, 1.0, 1.0])


def test_a_missing_column_is_named():
    with pytest.raises(JaliError, match="'city' is missing"):
        read(pd.DataFrame({"age": [1], "income": [1.0]}), setting()[2].schema)


def test_a_model_trained_here_predicts_from_tables():
    _, ours, train = setting()
    view = UserView.of(ours, train.schema)
    here = TrainedHere(ours, train.schema)
    given = view.thing.predict_proba(view.rows(train.X))
    np.testing.assert_allclose(here.predict_proba(view.rows(train.X)), given, atol=1e-11)
    assert here.predict(view.rows(train.X[:3])).tolist() == view.thing.predict(view.rows(train.X[:3])).tolist()
