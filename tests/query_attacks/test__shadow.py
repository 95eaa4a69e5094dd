"""Halves, thresholds, and what the reference label does."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from jali.core.query import Oracle
from jali.core.values import Column, Dataset, Schema
from jali.query_attacks._shadow import ShadowModels, calibrated, shadow_models, threshold

from .planted import FOREST, NEAREST, TREE, planted, rows


def test_shadows_learn_the_labels_of_the_oracle_from_half_of_each_class():
    case = planted(TREE, n=100)
    oracle = case.oracle("labels")
    made = shadow_models("x", TREE, oracle, case.known, 3, np.random.default_rng(0))
    assert oracle.queries == 100
    np.testing.assert_array_equal(made.rows.y, case.model.logits(case.known.X).argmax(axis=1))
    for c in (0, 1):
        of_class = made.member[made.rows.y == c]
        assert np.abs(of_class.sum(axis=0) * 2 - len(of_class)).max() <= 1
    assert (made.member[:, 0] != made.member[:, 1]).any()
    assert len(made.models) == 3


def test_shadows_are_like_the_target_where_its_kind_is_known():
    """A nearest neighbour knows all its rows: so does its shadow, and a forest of a nearest neighbour does not."""
    case = planted(NEAREST, n=100, noise=0.3)
    told = dataclasses.replace(case.oracle("labels"), trainer=NEAREST)

    def alike(oracle, trainer=None):
        made = shadow_models("x", trainer, oracle, case.known, 1, np.random.default_rng(0))
        here, there = (
            made.models[0].logits(case.known.X),
            NEAREST.fit(made.rows, made.member, [np.random.default_rng(0)])[0].logits(case.known.X),
        )
        return np.array_equal(here.argmax(axis=1), there.argmax(axis=1))

    assert alike(told)
    assert not alike(case.oracle("labels"))
    assert not alike(told, FOREST)  # a trainer that is named comes first


def test_the_threshold_is_the_best_of_all_by_brute_force():
    rng = np.random.default_rng(0)
    for _ in range(50):
        score, inside = rng.integers(0, 6, 12) / 5, rng.random(12) < 0.5
        if inside.all() or not inside.any():
            continue

        def gain(cut, score=score, inside=inside):
            return (score > cut)[inside].mean() - (score > cut)[~inside].mean()

        every = [*np.unique(score), -1.0]
        assert gain(threshold(score, inside)) == pytest.approx(max(map(gain, every)))


def test_where_nothing_tells_members_nobody_is_claimed():
    score = np.array([0.2, 0.2, 0.9, 0.9])
    assert not (score > threshold(score, np.array([True, True, False, False]))).any()
    assert not (score > threshold(np.ones(4), np.array([True, False, True, False]))).any()


class Sign:
    """The sign of the first column."""

    def logits(self, X):
        return np.stack([-X[:, 0], X[:, 0]], axis=1)


def far(ask, X, wanted):
    """How far the first column is from zero."""
    assert (ask(X) == wanted).all()
    return np.abs(X[:, 0])


@pytest.mark.parametrize(("reference", "expected"), [("predicted", [0.5, 0.7]), ("true", [0.5, 0.0])])
def test_a_record_with_another_prediction_than_its_reference_has_nothing(reference, expected):
    """The shadow's rows are 1, 2 in and .1, .2 out: the threshold is .6."""
    schema = Schema((Column("x"),))
    shadow = Dataset(np.array([[1.0], [2.0], [0.1], [0.2]]), [1, 1, 1, 1], schema)
    records = Dataset(np.array([[0.5], [-0.7]]), [1, 1], schema)
    made = ShadowModels([Sign()], shadow, np.array([[1], [1], [0], [0]]) > 0)
    found = calibrated(far, made, Oracle(schema, Sign().logits), records, reference)
    np.testing.assert_allclose(found.score, np.array(expected) - 0.6)


class Never:
    """Class 0 for everybody."""

    def logits(self, X):
        return np.tile([1.0, 0.0], (len(X), 1))


def test_as_released_the_oracle_holds_the_labels_that_the_shadow_predicts():
    """The oracle gives the rows 1, 2, .1, .2 class 1, the shadow class 0: nothing is held and the threshold is 0."""
    schema = Schema((Column("x"),))
    shadow = Dataset(np.array([[1.0], [2.0], [0.1], [0.2]]), [1, 1, 1, 1], schema)
    records = Dataset(np.array([[0.5], [-0.7]]), [0, 0], schema)
    made = ShadowModels([Never()], shadow, np.array([[1], [1], [0], [0]]) > 0)
    found = calibrated(far, made, Oracle(schema, Sign().logits), records, "as_released")
    np.testing.assert_allclose(found.score, [0.5, 0.7])
    assert found.overall["shadow_accuracy"] == 0.0


def test_the_accuracy_of_a_shadow_counts_rows_that_it_did_not_see():
    schema = Schema((Column("x"),))
    rows = Dataset(np.array([[1.0], [2.0], [-1.0], [3.0]]), [1, 0, 1, 1], schema)
    assert ShadowModels([Sign()], rows, np.array([[1], [0], [0], [0]]) > 0).accuracy() == pytest.approx(1 / 3)


def test_planted_rows_have_the_noise_they_say():
    data = rows(20_000, 3)
    wrong = (data.X[:, :2].sum(axis=1) > 0) != data.y
    assert wrong.mean() == pytest.approx(0.2, abs=0.01)
