"""Claims of membership against who trained the model, with what is known of oracle and surrogate, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from jali.audit.attack_runs import AttackRun, TargetModel, made
from jali.audit.grading import grader, graders
from jali.audit.grading.membership import GradesMembership
from jali.audit.preparations import Preparations
from jali.core.claims import Membership
from jali.core.errors import JaliError
from jali.core.explanation import Surrogate
from jali.core.grading import Truth
from jali.core.values import Column, Dataset, Schema
from jali.explain._surrogate.trees import fitted
from jali.knowledge.register import Register
from tests.explaining import Direct

SCHEMA = Schema((Column("age", role="quasi"), Column("income"), Column("debt")), favourable=1)
TRAIN = np.array([[20.0, 1, 5], [30, 2, 6], [30, 3, 7], [50, 4, 8]])
OTHERS = np.array([[20.0, 1, 9], [30, 9, 9], [50, 4, 8]])


class Old:
    """Class 1 from 40 years on."""

    def logits(self, X):
        return np.stack([40 - X[:, 0], X[:, 0] - 40], axis=1)


class Stands(Direct):
    """A tree split at 25 years in the place of everything."""

    gives, reads_training_data, wants = "surrogate", True, "labels"

    def answer(self, model, X, schema, train, rng):
        tree = fitted(np.array([[20.0, 0, 0], [30, 0, 0]]), np.array([0, 1]), schema, 0)
        return Surrogate((tree,), np.zeros(len(X), int), np.ones(len(X), bool))


class Guess:
    """Scores everybody by the probability of the first class."""

    learns, sees, holds, trains_shadows = "membership", "probabilities", "rows", False

    def run(self, oracle, known, records, rng):
        return Membership(oracle.probabilities(records.X)[:, 0], {"voters": 3.0})


def draws(name):
    return np.random.default_rng(len(name))


def test_what_surrogates_show_is_counted():
    """Rows of ages 20 and 60 are asked about; one rule covers the one person below 25, the other three."""
    X = np.concatenate([TRAIN, OTHERS, [[20.0, 0, 0], [60, 0, 0]]])
    data = Dataset(X, [0, 0, 0, 1, 0, 0, 0, 0, 1], SCHEMA)
    at = np.arange(len(data))
    target = TargetModel.of(Preparations(Old(), data.rows(at < 4), draws), data, at < 4, at >= 7, draws)
    overall = made(AttackRun(Guess(), Register(), Stands()), target, np.random.default_rng(0)).graded.overall
    of_classes = {f"class_{name}@{c}": 1.0 for name in ("precision", "recall", "f1") for c in (0, 1)}
    shown = {"fidelity": 1.0, "rules": 2.0, "rules_below_10": 2.0, "surrogate_accuracy": 1.0}
    assert overall == {"voters": 3.0, **of_classes, **shown}


def truth(member, labels):
    """Six records, of which those outside are of the classes 0, 0, 1, 1."""
    records = Dataset(np.zeros((6, 3)), [0, 1, 0, 0, 1, 1], SCHEMA)
    train = Dataset(TRAIN, np.zeros(4, dtype=int), SCHEMA)
    return Truth(Old(), train, records, train, np.array(member, dtype=bool), labels)


def test_classes_are_graded_on_non_members_by_hand():
    """The oracle labels the four outside 0, 1, 1, 1: class 0 is named once, rightly; class 1 thrice, twice rightly."""
    labels = np.array([-1, -1, 0, 1, 1, 1])
    overall = GradesMembership().grade(Membership(np.zeros(6)), truth([1, 1, 0, 0, 0, 0], labels)).overall
    assert overall == {
        "class_precision@0": 1.0,
        "class_recall@0": 1 / 2,
        "class_f1@0": 1 / 1.5,
        "class_precision@1": pytest.approx(2 / 3),
        "class_recall@1": 1.0,
        "class_f1@1": 2 / 2.5,
    }


def test_score_and_membership_are_kept_in_order():
    member = [1, 0, 1, 0, 0, 1]
    out = GradesMembership().grade(Membership(np.arange(6.0)), truth(member, None))
    assert out.score.tolist() == [0, 1, 2, 3, 4, 5]
    assert out.truth.tolist() == [bool(m) for m in member]
    assert out.values.shape == out.defined.shape == (0, 6)
    assert out.overall == {}


def test_where_everybody_is_a_member_no_class_is_graded():
    assert GradesMembership().grade(Membership(np.zeros(6)), truth([1] * 6, np.zeros(6, dtype=int))).overall == {}


def test_every_harm_that_is_graded_has_one_grader():
    found = graders()
    assert {"identity", "membership"} <= {g.harm for g in found}
    assert len({g.harm for g in found}) == len(found)
    assert all(grader(g.harm) == g for g in found)
    with pytest.raises(JaliError, match="There is no grader for attacks that learn the weather"):
        grader("the weather")
