from __future__ import annotations

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.defend._dp.public import DEPLOYED
from jali.defend.models.dp_logistic import DPLogistic
from jali.models.logistic import Logistic
from jali.verify.neighbours import AT, INSTEAD, SIZES, TrainingSet, adverse, fitted, influential, pairs, tables


def test_the_neighbour_differs_in_one_label_and_the_query_is_decided_alike():
    pair = adverse(Logistic())
    first, second = pair.first.data, pair.second.data
    assert (first.X == second.X).all()
    assert (first.y != second.y).sum() == 1
    here, there = (fitted(Logistic(), d).model.logits(pair.query).argmax() for d in (first, second))
    assert here == there


@pytest.mark.parametrize("trainer", [Logistic(), DEPLOYED, DPLogistic(1.0, bound=1.0).plain()])
def test_every_pair_differs_in_one_record_and_decides_its_query_alike(trainer):
    found = pairs(trainer, 0)
    assert [pair.name for pair in found[:4]] == ["wide", "steep", "flat", "moved"]
    for pair in (*found, *tables(trainer, 0)):
        first, second = pair.first.data, pair.second.data
        a, b = (np.column_stack([d.X, d.y]) for d in (first, second))
        assert (a != b).any(axis=1).sum() == 1
        here, there = (fitted(trainer, d).model.logits(pair.query).argmax() for d in (first, second))
        assert here == there
        assert len(set(first.y)) == len(set(second.y)) == 2


def test_one_label_moves_a_lightly_fitted_model_half_as_far_as_the_bound_for_any_fit():
    """Gradients of one record with one label and the other differ by its length, R; the bound allows 2 R."""
    for pair in influential(DEPLOYED, 0)[1:3]:
        here, there = pair.first.model, pair.second.model
        moved = np.hypot(
            *(
                np.diff(a - b, axis=-1).item()
                for a, b in ((here.coef[0], there.coef[0]), (here.intercept, there.intercept))
            )
        )
        assert 0.45 < moved / here.stability.weights <= 0.5


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("trainer", [Logistic(), DEPLOYED, DPLogistic(1.0, bound=1.0).plain()])
def test_the_query_is_the_record_that_differs_present_or_replaced(trainer, seed):
    """Present in the first data set alone, central and far out; in the second alone; and in both with another label."""
    sides = set()
    for pair in pairs(trainer, seed):
        here, there = ((pair.query == d.X).all(axis=1).any() for d in (pair.first.data, pair.second.data))
        outlying = np.abs(pair.query).max() > 3.9
        sides.add((bool(here), bool(there), bool(outlying)))
        if pair.name.endswith(AT):
            assert (pair.query == pair.first.data.X[pair.changed]).all()
        if pair.name.endswith(INSTEAD):
            assert (pair.query == pair.second.data.X[pair.changed]).all()
    assert {(True, False, False), (False, True, False), (False, True, True), (True, True, False)} <= sides


@pytest.mark.parametrize("seed", range(4))
def test_an_ordinary_record_is_moved_a_little_and_far_and_queried_near_at_and_away(seed):
    names = {pair.name for pair in pairs(Logistic(), seed)}
    for what in ("nudged", "sent away"):
        assert {f"{what}, query {where}" for where in (AT, INSTEAD, "away from it")} <= names
    assert "sent away, query near the record" in names


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 7, 15, 30])
def test_every_vote_of_neighbours_turns_where_labels_alternate(k):
    pair = next(p for p in pairs(Logistic(), 0) if p.name.startswith("alternating"))
    votes = []
    for data in (pair.first.data, pair.second.data):
        near = np.argsort(np.abs(data.X[:, 0] - pair.query[0, 0]), kind="stable")[:k]
        votes.append(data.y[near].mean() > 0.5)
    assert votes == [False, True]


def test_groups_of_several_sizes_lose_one():
    found = {}
    for pair in tables(Logistic(), 0):
        if pair.name.startswith("a group"):
            counts = [int((pair.query == d.X).all(axis=1).sum()) for d in (pair.first.data, pair.second.data)]
            found[counts[0]] = counts[1]
    assert found == {size: size - 1 for size in SIZES}


def test_all_values_lie_between_the_same_bounds():
    """A release that is right for values from -8 to 8 must not be refuted by others."""
    for pair in (*pairs(Logistic(), 0), *tables(Logistic(), 0)):
        for data in (pair.first.data, pair.second.data):
            assert np.abs(data.X).max() <= 8
            low, high = (np.array([getattr(c, end) for c in data.schema.columns]) for end in ("low", "high"))
            assert ((low <= data.X) & (high >= data.X)).all()


def test_a_model_is_kept_only_of_a_trainer_without_noise():
    data = adverse(Logistic()).first.data
    with pytest.raises(JaliError, match="must be drawn anew for every release"):
        fitted(DPLogistic(1.0, bound=1.0), data)
    with pytest.raises(JaliError, match="no fitted model"):
        TrainingSet(data).decisions(data.X)


def test_further_queries_start_with_the_query_and_are_decided_alike_unless_the_decision_is_covered():
    pair = adverse(Logistic())
    for covers_decision in (False, True):
        rows = pair.queries(covers_decision)
        assert len(rows) == 30
        assert (rows[0] == pair.query[0]).all()
    rows = pair.queries(covers_decision=False, most=1000)
    assert (pair.first.decisions(rows) == pair.second.decisions(rows)).all()
    assert len(rows) < len(pair.queries(covers_decision=True, most=1000)) == 501
