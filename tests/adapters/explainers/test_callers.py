"""Explainer objects by stand-ins for LIME, DiCE, alibi and EBMs. The real ones run in benchmarks/."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd

from jali.adapters.explainers.recognise import recognised

from .people import setting

ASKED = 12


def told(make, kind="frame", favourable=None):
    """The explainer as it was recognised, and what it says about some rows."""
    _, ours, train = setting(kind, favourable)
    part = recognised(make, ours, train)
    ready = part.prepare(ours, train.schema, train, np.random.default_rng(0))
    return part, ready.explain(train.X[:ASKED], np.random.default_rng(0)), train.X[:ASKED]


class Lime:
    """LIME: one row as an array, a function of arrays, and weights by class."""

    def explain_instance(self, row, predict_fn, labels=(1,), num_features=10):
        assert num_features == len(row) == 3
        chance = predict_fn(np.stack([row] * 4))[:, labels[0]]
        noise = np.random.normal()  # noqa: NPY002 (as the library does)
        return SimpleNamespace(as_map=lambda: {labels[0]: [(1, chance.mean() + noise)]})


Lime.__module__ = "lime.lime_tabular"


def test_lime_is_asked_row_by_row_about_the_predicted_class_and_with_seeds_of_its_own():
    part, out, X = told(lambda m, bg: Lime())
    assert part.name == "Lime"
    assert "LIME draws a new sample" in part.caution
    assert out.found.all()
    assert np.count_nonzero(out.value) == ASKED
    _, ours, train = setting()
    ready = part.prepare(ours, train.schema, train, np.random.default_rng(0))
    back = ready.explain(X[::-1], np.random.default_rng(0))
    np.testing.assert_array_equal(back.value[::-1], out.value)  # a row's draws do not depend on its company


class Dice:
    """DiCE: a table of one row, examples with the outcome, and an error where it finds none."""

    def __init__(self, background):
        self.columns = list(background.columns)

    def generate_counterfactuals(self, query, total_CFs, desired_class, verbose):
        assert list(query.columns) == self.columns
        if query["age"].iloc[0] > 60:
            raise ValueError("No counterfactuals found for any of the query points!")
        moved = query.assign(income=(query["income"] + 20).astype(str), outcome=1)
        return SimpleNamespace(cf_examples_list=[SimpleNamespace(final_cfs_df=moved, final_cfs_df_sparse=None)])


def test_dice_finds_or_does_not_find():
    part, out, X = told(lambda m, bg: Dice(bg))
    assert part.gives == "counterfactual"
    assert "DiCE draws" in part.caution
    np.testing.assert_array_equal(out.found, X[:, 0] <= 60)
    np.testing.assert_allclose((out.rows - X)[out.found], [[0, 20, 0]] * out.found.sum())


class Alibi:
    """alibi: one row (1, D), an answer whose data hold the counterfactual or None."""

    def explain(self, X):
        assert X.shape == (1, 3)
        return SimpleNamespace(data={"cf": None if X[0, 0] > 0 else {"X": X + 1.0, "class": 1}})


def test_alibi_is_asked_row_by_row():
    part, out, X = told(lambda m, bg: Alibi(), "array")
    assert part.gives == "counterfactual"
    np.testing.assert_array_equal(out.found, X[:, 0] <= 0)


class Ebm:
    """An explainable boosting machine: terms of one or two columns."""

    term_features_ = ((0,), (1,), (2,), (0, 2))

    def predict(self, X):
        return np.zeros(len(X))

    def eval_terms(self, X):
        return np.tile([1.0, 2.0, 3.0, 10.0], (len(X), 1))


def test_the_terms_of_an_ebm_go_to_their_columns_and_towards_the_decision():
    part, out, X = told(lambda m, bg: Ebm(), "array")
    _, ours, _ = setting("array")
    sign = np.where(ours.logits(X).argmax(axis=1) == 1, 0.5, -0.5)
    assert part.gives == "attribution"
    np.testing.assert_allclose(out.value, sign[:, None] * [6.0, 2.0, 8.0])


def test_a_table_of_attributions_by_column():
    part, out, _ = told(lambda m, X: pd.DataFrame(np.ones((len(X), 3)), columns=["a", "b", "c"]))
    assert part.gives == "attribution"
    np.testing.assert_array_equal(out.value.sum(axis=1), 3.0)
