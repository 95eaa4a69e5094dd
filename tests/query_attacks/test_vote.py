"""Who votes, who wins, and for whom explanations are asked."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from jali.core.claims import Identity, Membership
from jali.core.errors import JaliError
from jali.core.explanation import Attribution, Surrogate
from jali.core.query import Oracle
from jali.query_attacks._representatives import elbow, representatives
from jali.query_attacks.label_only import LabelOnly
from jali.query_attacks.vote import Vote, _beyond_elbow, _confident, _votes
from jali.stats.delong import delong

from .planted import NEAREST, TREE, planted, rows


def test_the_confident_are_a_deviation_above_the_mean():
    """d = 0, 1, 2, 9: mean 3, deviation sqrt(50 / 4) = 3.54."""
    assert _confident(np.array([[0.0], [1], [2], [9]])).ravel().tolist() == [False, False, False, True]
    assert _confident(np.array([[4.0]])).all()  # one attack alone


def test_beyond_the_elbow():
    """Sorted 0, .1, .2, .9, 1: farthest from the chord 0, .25, .5, .75, 1 lies .2, so .9 and 1 vote."""
    assert _beyond_elbow(np.array([[0.9], [0.0], [1.0], [0.1], [0.2]])).ravel().tolist() == [
        True,
        False,
        True,
        False,
        False,
    ]
    assert elbow(np.array([[0.0], [0.1], [0.2], [0.9], [1.0]])).tolist() == [2]
    assert elbow(np.array([[3.0]])).tolist() == [0]


@pytest.mark.parametrize(
    ("scores", "select", "claimed"),
    [
        ([0.9, 0.8, -0.1, -0.2, -0.1], "threshold", True),  # the two surest outvote the rest
        ([0.1, 0.1, -0.9, 0.1, 0.1], "confidence", False),  # one voice, the surest
        ([1.0, 1.0, 0.0], "confidence", True),  # nobody is a deviation above the mean: the surest, both of them
        ([1.0, -1.0, 0.0], "confidence", False),  # a tie is OUT
        ([0.5, 0.5, 0.5], "threshold", True),  # no elbow: all are as sure
        ([0.0, 0.0], "threshold", False),
        ([-0.3], "threshold", False),
        ([0.3], "confidence", True),
    ],
)
def test_edge_cases(scores, select, claimed):
    score = _votes(np.array(scores)[:, None], select)
    assert (score > 0).tolist() == [claimed]
    assert np.abs(score) <= 1


def test_votes_are_the_majority_of_the_chosen_and_the_order_within_equal_shares_is_that_of_confidence():
    rng = np.random.default_rng(0)
    scores = rng.uniform(-1, 1, (7, 300))
    for select, choose in (("confidence", _confident), ("threshold", _beyond_elbow)):
        found = _votes(scores, select)
        chosen = choose(np.abs(scores))
        some = chosen.any(axis=0)
        share = (chosen & (scores > 0)).sum(axis=0)[some] / chosen.sum(axis=0)[some]
        np.testing.assert_array_equal(found[some] > 0, share > 0.5)
        order = np.argsort(found[some])
        assert (np.diff(share[order]) >= -1e-12).all()
    one = _votes(np.array([[0.2, 0.9]]), "confidence")
    assert one[0] < one[1]


def test_representatives_come_from_every_cluster_and_from_near_and_far():
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0], [20, 0], [0, 20]])
    X = np.concatenate([c + rng.normal(size=(40, 2)) for c in centres])
    data = dataclasses.replace(rows(120, 2), X=X)
    picked = representatives("x", data, 2)
    assert picked.shape == (3 * 4 * 2, 2)
    nearest = ((picked[:, None] - centres) ** 2).sum(axis=2)
    assert np.bincount(nearest.argmin(axis=1)).tolist() == [8, 8, 8]
    far = np.sqrt(nearest.min(axis=1))
    assert far.min() < 0.6
    assert far.max() > 1.8
    moved = representatives("x", data.rows(rng.permutation(120)), 2)
    np.testing.assert_array_equal(picked, moved)


def test_more_explanations_than_records_are_refused():
    with pytest.raises(JaliError, match=r"vote: each=9 asks for \d+ explanations.*there are 20 different records"):
        representatives("vote", rows(20, 2), 9)
    with pytest.raises(JaliError, match="each must be at least 1"):
        Vote(each=0)


def around(case, near):
    """Local surrogates that know the nearest members by heart."""
    own = case.records.rows(case.inside)

    def tell(X):
        far = ((X[:, None] - own.X) ** 2).sum(axis=2)
        member = (far.argsort(axis=1).argsort(axis=1) < near).T
        made = NEAREST.fit(own, member, [np.random.default_rng(k) for k in range(len(X))])
        return Surrogate(tuple(made[k] for k in range(len(X))), np.arange(len(X)), np.ones(len(X), bool))

    return tell


@pytest.mark.parametrize("select", ["confidence", "threshold"])
def test_local_surrogates_that_know_their_rows_by_heart_are_found_out(select):
    case = planted(NEAREST, n=300)
    oracle = dataclasses.replace(case.oracle("labels"), explain=around(case, 250))
    query_attack = Vote(LabelOnly("true", perturbations=20, shadow=TREE), select, each=1)
    score = query_attack.run(oracle, case.known, case.records, np.random.default_rng(0)).score
    assert delong(score, case.inside).low > 0.6


def test_one_surrogate_for_everybody_is_the_attack_itself():
    case = planted(TREE, n=80)
    oracle = dataclasses.replace(
        case.oracle(), explain=lambda X: Surrogate((case.model,), np.zeros(len(X)), np.ones(len(X), bool))
    )
    alone = LabelOnly(perturbations=20, shadow=TREE)
    voted = Vote(alone, "threshold", 1).run(oracle, case.known, case.records, np.random.default_rng(0)).score
    assert set((voted > 0).tolist()) == {True, False}


class Half:
    """Says IN of the upper half."""

    sees = "labels"

    def run(self, oracle, known, records, rng):
        oracle.labels(records.X)
        return Membership(oracle.scores(records.X)[:, 1])


class Named:
    sees = "counterfactuals"

    def run(self, oracle, known, records, rng):
        n = len(records)
        return Identity(np.zeros(n), np.zeros(n), np.zeros(n), records.X)


class Shifted:
    def __init__(self, by):
        self.by = by

    def logits(self, X):
        return np.stack([-X[:, 0] - self.by, X[:, 0] + self.by], axis=1)


def test_surrogates_without_two_labels_do_not_vote_and_questions_add_up():
    data = rows(60, 2)
    models = (Shifted(0.0), Shifted(100.0))
    oracle = Oracle(
        data.schema, models[0].logits, lambda X: Surrogate(models, np.arange(len(X)) % 2, np.ones(len(X), bool))
    )
    score = Vote(Half(), "threshold", 1).run(oracle, data, data, np.random.default_rng(0)).score
    np.testing.assert_array_equal(score > 0, data.X[:, 0] > 0)
    asked = oracle.queries - 2 * 60  # by the surrogate that votes: the known rows, the records
    assert asked % 4 == 0
    assert asked >= 8


def test_what_vote_cannot_use_is_refused():
    data = rows(60, 2)
    there = Oracle(data.schema, Shifted(0.0).logits, lambda X: Attribution(np.zeros((len(X), 2))))
    with pytest.raises(JaliError, match="attacks surrogates, not attributions"):
        Vote(each=1).run(there, data, data, np.random.default_rng(0))
    nobody = Oracle(
        data.schema, Shifted(0.0).logits, lambda X: Surrogate((Shifted(0.0),), np.zeros(len(X)), np.zeros(len(X)))
    )
    with pytest.raises(JaliError, match="none of"):
        Vote(each=1).run(nobody, data, data, np.random.default_rng(0))
    fine = Oracle(
        data.schema, Shifted(0.0).logits, lambda X: Surrogate((Shifted(0.0),), np.zeros(len(X)), np.ones(len(X)))
    )
    with pytest.raises(JaliError, match="claims membership"):
        Vote(Named(), each=1).run(fine, data, data, np.random.default_rng(0))
