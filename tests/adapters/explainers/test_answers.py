"""Answers as libraries give them, by stand-ins with the same interface."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from jali.adapters.explainers.answers import attributions
from jali.adapters.explainers.counterfactuals import counterfactuals
from jali.adapters.explainers.kinds import kind_of
from jali.adapters.explainers.user_view import Tile, UserView
from jali.core.errors import JaliError

from .people import setting

A = np.arange(12.0).reshape(4, 3)  # attributions of four rows and three columns


def tile(kind="array", n=4):
    _, ours, train = setting(kind)
    return Tile(UserView.of(ours, train.schema), train.X[:n])


class Tensor:
    """The interface of a torch tensor that matters here."""

    def __init__(self, array):
        self.array = array

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self.array


def lime(weights):
    return SimpleNamespace(as_map=lambda: weights)


def test_the_class_axis_is_picked_by_the_predicted_class():
    some = tile()
    by_class = np.stack([A, 10 * A], axis=2)
    want = np.where(some.at[:, None] == 1, 10 * A, A)
    assert len(set(some.at)) == 2
    explanation = SimpleNamespace(values=by_class, base_values=0.5, data=None)
    for answer in (by_class, [A, 10 * A], Tensor(by_class), np.moveaxis(by_class, 2, 0), explanation):
        np.testing.assert_array_equal(attributions(answer, some), want)


def test_of_two_classes_a_margin_is_shared_and_points_to_the_decision():
    some = tile()
    signed = np.where(some.at[:, None] == 1, 0.5, -0.5) * A
    np.testing.assert_array_equal(attributions(SimpleNamespace(values=A, base_values=0.0), some), signed)
    np.testing.assert_array_equal(attributions(A, some, "second"), signed)
    np.testing.assert_array_equal(attributions(A, some), A)


@pytest.mark.parametrize("wrap", [list, tuple, iter, Tensor, pd.DataFrame, lambda a: a.astype(object), lambda a: [*a]])
def test_plain_attributions_are_read_in_any_form(wrap):
    np.testing.assert_array_equal(attributions(wrap(A), tile()), A)


def test_limes_weights_by_column_and_class():
    some = tile(n=1)
    label = int(some.at[0])
    np.testing.assert_array_equal(attributions(lime({label: [(2, 0.5), (0, -1.0)]}), some), [[-1.0, 0.0, 0.5]])
    np.testing.assert_array_equal(attributions(lime({1 - label: [(2, 0.5)]}), some), [[0.0, 0.0, -0.5]])


def test_one_answer_per_row_with_gaps():
    some = tile()
    each = [lime({int(at): [(0, 1.0)]}) for at in some.at]
    value = attributions([each[0], None, each[2], each[3]], some)
    np.testing.assert_array_equal(value[[0, 2, 3]], [[1.0, 0, 0]] * 3)
    assert np.isnan(value[1]).all()


def test_anchors_and_alibis_answers():
    some = tile(n=1)
    anchor = SimpleNamespace(features=lambda: [1], precision=lambda: 0.9)
    alibi = SimpleNamespace(data={"anchor": ["x1 > 0"], "precision": 0.9, "raw": {"feature": [1]}})
    for answer in (anchor, alibi):
        np.testing.assert_array_equal(attributions(answer, some), [[0.0, 0.9, 0.0]])
    shapley = SimpleNamespace(data={"shap_values": [A[:1], 2 * A[:1]]})
    np.testing.assert_array_equal(attributions(shapley, some), (1 + some.at[0]) * A[:1])


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (A[:3], "4 rows were explained, and the answer has shape"),
        ([A[0], A[1]], "4 rows were explained, and 2 answers came back"),
        (np.stack([A] * 3, axis=2), "model of 2 classes"),
        (np.array([["a"] * 3] * 4, dtype=object), "Attributions are numbers"),
        ([A[0], A[1][:2], A[2], A[3]], "as many attributions as the others"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_sentence(answer, words):
    with pytest.raises(JaliError, match=words):
        attributions(answer, tile())


def rows(n=4):
    """Counterfactuals of a table with text: the same people with more income."""
    some = tile("frame", n)
    return some, some.rows.assign(income=some.rows["income"] + 5)


def test_counterfactuals_in_any_form():
    some, moved = rows()
    dice = [SimpleNamespace(final_cfs_df=moved.iloc[[i]].assign(y=1), final_cfs_df_sparse=None) for i in range(4)]
    alibi = [SimpleNamespace(data={"cf": {"X": moved.iloc[[i]].to_numpy(), "class": 1}}) for i in range(4)]
    forms = [moved, moved.to_numpy(), [*moved.to_numpy()], SimpleNamespace(cf_examples_list=dice), alibi]
    forms.append(moved.to_dict("records"))
    for answer in forms:
        assert kind_of(answer, some) == "counterfactual"
        X, found, illegal = counterfactuals(answer, some)
        assert found.all()
        assert illegal == 0
        np.testing.assert_allclose(X - some.X, [[0, 5, 0]] * 4)


def test_no_counterfactual_is_missing_and_an_unknown_value_is_counted():
    some, moved = rows()
    gaps = moved.astype(object)
    gaps.iloc[1] = np.nan
    gaps.loc[2, "city"] = "Rome"
    X, found, illegal = counterfactuals(gaps, some)
    assert found.tolist() == [True, False, False, True]
    assert illegal == 1
    np.testing.assert_array_equal(X[1:3], some.X[1:3])
    none = SimpleNamespace(final_cfs_df=None, final_cfs_df_sparse=None)
    assert not counterfactuals(SimpleNamespace(cf_examples_list=[none] * 4), some)[1].any()
    assert not counterfactuals([None] * 4, some)[1].any()


def test_of_several_counterfactuals_the_nearest_is_read():
    some, _ = rows(1)
    three = pd.concat([some.rows.assign(income=some.rows["income"] + step) for step in (9, 2, 4)])
    X, found, _ = counterfactuals([three], some)
    assert found.all()
    np.testing.assert_allclose(X - some.X, [[0, 2, 0]])


def test_doubt_is_raised_and_kinds_are_told_apart():
    some = tile()
    assert kind_of(A, some) == "attribution"
    with pytest.raises(JaliError, match="kind='counterfactual'"):
        kind_of(some.X + np.array([1, 0, 0]), some)
    with pytest.raises(JaliError, match="kind='attribution'"):
        kind_of(pd.DataFrame(some.X + 1, columns=["x0", "x1", "x2"]), some)
    assert kind_of(pd.DataFrame(some.X, columns=["a", "b", "c"]), some) == "attribution"
    assert kind_of({"a": 1}, some) is None
    assert kind_of(3.0, some) is None
