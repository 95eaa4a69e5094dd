"""The truth is joined to claims in one place."""

from __future__ import annotations

import numpy as np
import pytest

from jali.audit.attack_runs import AttackRun, Failed, made, restored, try_run
from jali.core import registry
from jali.core.claims import Membership
from jali.core.errors import JaliError
from jali.core.explanation import Surrogate
from jali.core.values import Dataset
from jali.explain._surrogate.trees import fitted
from jali.knowledge.register import Register
from jali.query_attacks.intersection import Intersection
from jali.query_attacks.linkage import Linkage
from tests.audit.seven_people import MODEL, OTHERS, SCHEMA, TRAIN, Shows, target, target_of
from tests.explaining import Direct


class Guess:
    """Scores everybody by the probability of the first class."""

    learns, sees, holds, trains_shadows = "membership", "probabilities", "rows", False

    def run(self, oracle, known, records, rng):
        return Membership(oracle.probabilities(records.X)[:, 0], {"voters": 3.0})


def test_claims_of_membership_have_membership_for_truth():
    data = Dataset(np.concatenate([TRAIN, OTHERS]), np.zeros(7, dtype=int), SCHEMA)
    at = np.arange(7)
    mine = target_of(MODEL, data, at < 4, at >= 2)
    out = made(AttackRun(Guess(), Register()), mine, np.random.default_rng(0))
    assert out.graded.truth.tolist() == [True, True, False, False, False]
    assert out.queries == 5
    assert out.graded.values.shape == (0, 5)
    assert out.graded.overall["voters"] == 3.0


def test_an_answer_is_the_same_whichever_attack_reads_it_and_is_asked_for_once():
    class Counts(Shows):
        calls = 0

        def answer(self, model, X, schema, train, rng):
            Counts.calls += 1
            return super().answer(model, X, schema, train, rng)

    mine, explainer = target(1), Counts([0])
    for query_attack in (Linkage(), Intersection()):
        made(AttackRun(query_attack, Register(), explainer), mine, np.random.default_rng(0))
    assert Counts.calls == 1


def spoken():
    """Rows of ages 20 and 60 ask; one rule speaks of the one person below 25, the other of three."""
    X = np.concatenate([TRAIN, OTHERS, [[20.0, 0, 0], [60, 0, 0]]])
    data = Dataset(X, [0, 0, 0, 1, 0, 0, 0, 0, 1], SCHEMA)
    at = np.arange(len(data))
    return target_of(Old(), data, at < 4, at >= 7)


class Old:
    """Class 1 from 40 years on."""

    def logits(self, X):
        return np.stack([40 - X[:, 0], X[:, 0] - 40], axis=1)


class Stands(Direct):
    """A tree split at 25 years in the place of everything."""

    gives, reads_training_data, wants = "surrogate", True, "labels"
    asked = 0

    def answer(self, model, X, schema, train, rng):
        self.asked += len(X)
        tree = fitted(np.array([[20.0, 0, 0], [30, 0, 0]]), np.array([0, 1]), schema, 0)
        return Surrogate((tree,), np.zeros(len(X), int), np.ones(len(X), bool))


class Reads:
    """Asks for the explanation of one record."""

    learns, sees, holds, trains_shadows = "membership", "local surrogates", "rows", False

    def run(self, oracle, known, records, rng):
        oracle.explanations(records.X[:1])
        return Membership(np.zeros(len(records)))


def test_a_surrogate_is_made_of_what_is_asked_only():
    explainer = Stands()
    made(AttackRun(Reads(), Register(), explainer), spoken(), np.random.default_rng(0))
    assert explainer.asked == 1


def test_local_surrogates_are_attacked_together():
    explainer = Stands()
    explainer.local = True
    with pytest.raises(JaliError, match="attack them together, with vote"):
        made(AttackRun(Guess(), Register(), explainer), spoken(), np.random.default_rng(0))


def test_an_attack_that_cannot_be_made_says_why_and_claims_nothing():
    explainer = Stands()
    explainer.local = True
    out = try_run(AttackRun(Guess(), Register(), explainer), spoken(), np.random.default_rng(0))
    assert isinstance(out, Failed)
    assert "Stands explains each record by a model of its own" in out.reason
    assert restored(out.arrays()) == out


def test_what_was_left_comes_back_from_the_store():
    out = made(AttackRun(Guess(), Register(), Stands()), spoken(), np.random.default_rng(0))
    again = restored(out.arrays())
    assert again.queries == out.queries
    assert again.graded.overall == out.graded.overall
    for name in ("score", "truth", "values", "defined"):
        np.testing.assert_array_equal(getattr(again.graded, name), getattr(out.graded, name))


class Liar(Guess):
    """Says that it learns whose record it is, and claims membership."""

    learns = "identity"


class Brief(Guess):
    """Claims something of the first record only."""

    def run(self, oracle, known, records, rng):
        return Membership(np.zeros(1))


def test_a_claim_of_another_type_or_of_too_few_records_is_refused():
    with pytest.raises(JaliError, match="Liar declares that it learns identity, so it must return Identity, not"):
        made(AttackRun(Liar(), Register()), spoken(), np.random.default_rng(0))
    with pytest.raises(JaliError, match="must claim something of each of 2 records, not of 1"):
        made(AttackRun(Brief(), Register()), spoken(), np.random.default_rng(0))


def test_an_attack_on_explanations_without_an_explainer_is_refused():
    with pytest.raises(JaliError, match="reads explanations: name an explainer beside it"):
        made(AttackRun(Linkage(), Register()), target(1), np.random.default_rng(0))


class Both(Reads):
    """Reads surrogates and asks the model as well."""

    def run(self, oracle, known, records, rng):
        oracle.labels(records.X)
        return super().run(oracle, known, records, rng)


def test_an_attack_on_local_surrogates_must_not_query_the_model():
    with pytest.raises(JaliError, match="may read surrogates only, but it queried the model about 2 rows"):
        made(AttackRun(Both(), Register(), Stands()), spoken(), np.random.default_rng(0))


def test_labels_and_explanations_are_counted_together():
    out = made(AttackRun(Guess(), Register(), Stands()), spoken(), np.random.default_rng(0))
    assert out.queries == 2  # what the one surrogate is made from is no query of the attack
    linked = made(AttackRun(Linkage(), Register(), Shows([0, 3, 0])), target(3), np.random.default_rng(0))
    assert linked.queries == 3


class Holds:
    """Knowledge that remembers what it was given."""

    def __init__(self, whose):
        self.whose = whose

    def know(self, rows, rng):
        self.rows = rows
        return rows


@pytest.mark.parametrize(
    ("whose", "many"), [("others", [4, 5]), ("train", [0, 1, 2]), ("everybody", [0, 1, 2, 3, 4, 5])]
)
def test_knowledge_is_made_from_the_rows_of_those_whom_it_names(whose, many):
    """Six rows: three trained the model, the fourth is asked about; of everybody, the training people come first."""
    at = np.arange(6)
    data = Dataset(np.repeat(at[:, None], 3, axis=1), at % 2, SCHEMA, groups=10 + at)
    knowledge = Holds(whose)
    made(AttackRun(Guess(), knowledge), target_of(MODEL, data, at < 3, at == 3), np.random.default_rng(0))
    assert knowledge.rows.X[:, 0].tolist() == many
    assert knowledge.rows.groups.tolist() == [10 + i for i in many]


def test_a_run_is_named_by_what_is_queried_what_is_known_and_how_it_is_attacked():
    run = AttackRun(Linkage(), Register(), registry.build("explain", "nice"))
    assert run.label == "nice | register | linkage"
    assert AttackRun(Linkage(), Register()).queried == ""
    assert run.grader.harm == "identity"
