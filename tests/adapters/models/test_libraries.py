"""The libraries themselves, where they are installed: recognised, trained again, and their traps met."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from jali.adapters.models.recognise import brought
from jali.models.given import Given

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame({"a": RNG.normal(size=80), "b": RNG.normal(size=80), "c": RNG.choice(["x", "y"], 80)})
Y = (TABLE.a + RNG.normal(size=80) > 0).astype(int).to_numpy()
NUMBERS = TABLE[["a", "b"]]


def xgboost_model(library):
    return library.XGBClassifier(n_estimators=3, subsample=0.7), NUMBERS


def lightgbm_model(library):
    return library.LGBMClassifier(n_estimators=3, verbose=-1), TABLE.astype({"c": "category"})


def catboost_model(library):
    return library.CatBoostClassifier(3, verbose=False, cat_features=["c"], allow_writing_files=False), TABLE


def interpret_model(library):
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(outer_bags=1, max_rounds=3, interactions=0, n_jobs=1), TABLE


def skorch_model(library):
    from torch import nn

    net = library.NeuralNetClassifier(nn.Linear(2, 2), criterion=nn.CrossEntropyLoss, max_epochs=1, verbose=0)
    return net, NUMBERS.to_numpy(np.float32)


@pytest.mark.parametrize(
    ("name", "make", "note"),
    [
        ("xgboost", xgboost_model, None),
        ("lightgbm", lightgbm_model, None),
        ("catboost", catboost_model, None),
        ("interpret", interpret_model, "holds out 15 %"),
        ("skorch", skorch_model, "holds out 20 %"),
    ],
)
def test_a_library(name, make, note):
    library = pytest.importorskip(name, reason=f"{name} is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what libraries say among themselves
        model, rows = make(library)
        found = brought(model.fit(rows, Y), None, [0, 1], len(Y))
        shadow = found.refit.fit(rows, Y, np.random.default_rng(0))
        again = found.refit.fit(rows, Y, np.random.default_rng(0))
        assert found.estimator is model
        assert shadow is not model
        assert shadow.predict_proba(rows).shape == (80, 2)
        np.testing.assert_allclose(shadow.predict_proba(rows), again.predict_proba(rows))
    assert any(note in said for said in found.notes) if note else found.notes == ()
    assert Given(model, refit=found.refit).unfitted() is not None


def test_xgboost_with_early_stopping_cannot_be_fitted_again():
    library = pytest.importorskip("xgboost", reason="xgboost is not installed")
    model = library.XGBClassifier(n_estimators=3, early_stopping_rounds=2)
    model.fit(NUMBERS, Y, eval_set=[(NUMBERS, Y)], verbose=False)
    assert "needs an eval_set" in brought(model, None, [0, 1], 80).without
    with pytest.raises(ValueError, match=r"[Vv]alidation|early stopping"):
        library.XGBClassifier(n_estimators=3, early_stopping_rounds=2).fit(NUMBERS, Y)
