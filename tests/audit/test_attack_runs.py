"""The truth is joined to claims in one place."""

from __future__ import annotations

import numpy as np
import pytest

from jali.audit.attack_runs import Attacked, AttackRun, Failed, attempted, made, restored
from jali.audit.preparations import Preparations
from jali.core.claims import Membership
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Surrogate
from jali.core.values import Column, Dataset, Schema
from jali.explain._surrogate.trees import fitted
from jali.knowledge.population_register import PopulationRegister
from jali.knowledge.register import Register
from jali.models.fitted.linear import LinearModel
from jali.query_attacks.intersection import Intersection
from jali.query_attacks.linkage import Linkage
from tests.explaining import Direct

SCHEMA = Schema((Column("age", role="quasi"), Column("income"), Column("debt")), favourable=1)
OWNER = np.array([[20.0, 1, 5], [30, 2, 6], [30, 3, 7], [50, 4, 8]])
OTHERS = np.array([[20.0, 1, 9], [30, 9, 9], [50, 4, 8]])
MODEL = LinearModel(Encoding(SCHEMA), np.array([[0.0, 1.0], [0, 0], [0, 0]]), np.zeros(2))


class Shows(Direct):
    """An explainer that shows training rows, as listed."""

    gives, reads_training_data, wants = "counterfactual", True, "labels"

    def __init__(self, rows):
        self.rows = rows

    def answer(self, model, X, schema, train, rng):
        at = np.array(self.rows)
        return Counterfactual(train.X[at.clip(0)], at >= 0, origin=at)


def draws(name):
    return np.random.default_rng(len(name))


def scene_of(model, data, member, scored):
    return Scene.of(Preparations(model, data.rows(member), draws), data, member, scored, draws)


def scene(n):
    data = Dataset(np.concatenate([OWNER, OTHERS, np.zeros((n, 3))]), np.zeros(7 + n, dtype=int), SCHEMA)
    at = np.arange(len(data))
    return scene_of(MODEL, data, at < 4, at >= 7)


def measured(rows):
    out = held(AttackRun(Linkage(), Register(), Shows(rows)), scene(len(rows)), np.random.default_rng(0))
    return out, dict(zip(LINKED, out["quality"], strict=True)), dict(zip(LINKED, out["there"], strict=True))


def test_real_rows_are_linked_to_their_people():
    out, value, there = measured([0, 3, 0, -1])
    assert value["candidates"].tolist() == [1, 1, 1, 0]
    assert value["singled_out"].tolist() == [1, 1, 1, 0]
    assert value["newly_singled_out"].tolist() == [1, 1, 0, 0]  # the third shows the first person again
    assert value["reidentified"].tolist() == [1, 1, 1, 0]
    assert out["truth"].tolist() == [True, True, True, False]
    assert there["candidates"].tolist() == [True, True, True, False]


def test_private_values_are_disclosed_beyond_what_could_be_guessed():
    """Row 0: income 1 and debt 5. The nearest outsider of the same age has income 1 and debt 9: half is guessed."""
    _, value, there = measured([0])
    assert value["disclosed"].tolist() == [1]
    assert there["disclosed_baseline"].tolist() == [True]
    # With 15 neighbours of three outsiders everybody is asked: debt 9 twice, and of three incomes the nearest first.
    assert value["disclosed_baseline"][0] == pytest.approx(0.5)


def test_one_of_two_who_fit_is_right_half_of_the_time():
    out = [
        held(AttackRun(Linkage(), Register(), Shows([1])), scene(1), np.random.default_rng(s))["truth"][0]
        for s in range(400)
    ]
    assert np.mean(out) == pytest.approx(0.5, abs=0.08)


class Guess:
    """Membership membership of everybody alike."""

    shows, links = "probabilities", False

    def run(self, oracle, known, records, rng):
        return Membership(oracle.probabilities(records.X)[:, 0], {"effort": 3.0})


def test_claims_of_membership_have_membership_for_truth():
    data = Dataset(np.concatenate([OWNER, OTHERS]), np.zeros(7, dtype=int), SCHEMA)
    at = np.arange(7)
    out = held(AttackRun(Guess(), Register(), None), scene_of(MODEL, data, at < 4, at >= 2), np.random.default_rng(0))
    assert out["truth"].tolist() == [True, True, False, False, False]
    assert int(out["queries"]) == 5
    assert out["quality"].shape == (0, 5)
    assert float(out["fact/effort"]) == 3.0


def test_an_explainer_that_names_no_training_row_reidentifies_nobody():
    class Made(Shows):
        def answer(self, model, X, schema, train, rng):
            return Counterfactual(train.X[:1], np.array([True]))

    out = held(AttackRun(Linkage(), Register(), Made([0])), scene(1), np.random.default_rng(0))
    assert out["truth"].tolist() == [False]


def test_in_a_census_more_people_fit_and_only_those_behind_the_model_are_real():
    """Two outsiders of 30 and one of 20 are in the population_register; the answer shows the only training row of 20."""
    out = held(AttackRun(Linkage(), PopulationRegister(), Shows([0])), scene(1), np.random.default_rng(0))
    value = dict(zip(LINKED, out["quality"], strict=True))
    assert value["candidates"].tolist() == [2]
    assert value["singled_out"].tolist() == [0]


def test_an_answer_is_the_same_whichever_attack_reads_it_and_is_asked_for_once():
    class Counts(Shows):
        calls = 0

        def answer(self, model, X, schema, train, rng):
            Counts.calls += 1
            return super().answer(model, X, schema, train, rng)

    told, explainer = scene(1), Counts([0])
    for inquiry in (Linkage(), Intersection()):
        held(AttackRun(inquiry, Register(), explainer), told, np.random.default_rng(0))
    assert Counts.calls == 1


def spoken():
    """Rows of ages 20 and 60 ask; one rule speaks of the one person below 25, the other of three."""
    X = np.concatenate([OWNER, OTHERS, [[20.0, 0, 0], [60, 0, 0]]])
    data = Dataset(X, [0, 0, 0, 1, 0, 0, 0, 0, 1], SCHEMA)
    at = np.arange(len(data))
    return scene_of(Old(), data, at < 4, at >= 7)


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


def test_what_surrogates_show_is_counted():
    out = held(AttackRun(Guess(), Register(), Stands()), spoken(), np.random.default_rng(0))
    facts = {name.removeprefix("fact/"): float(value) for name, value in out.items() if name.startswith("fact/")}
    of_classes = {f"{name}_of_class_{c}": 1.0 for name in ("precision", "recall", "f1") for c in (0, 1)}
    shown = {"fidelity": 1.0, "rules": 2.0, "rules_below_10": 2.0, "surrogate_accuracy": 1.0}
    assert facts == {"effort": 3.0, **of_classes, **shown}


class Reads:
    """Asks for the explanation of one record."""

    shows, links = "explanation", False

    def run(self, oracle, known, records, rng):
        oracle.explanations(records.X[:1])
        return Membership(np.zeros(len(records)))


def test_a_surrogate_is_made_of_what_is_asked_only():
    explainer = Stands()
    held(AttackRun(Reads(), Register(), explainer), spoken(), np.random.default_rng(0))
    assert explainer.asked == 1


def test_local_surrogates_are_attacked_together():
    explainer = Stands()
    explainer.local = True
    with pytest.raises(JaliError, match="attack them together, with vote"):
        held(AttackRun(Guess(), Register(), explainer), spoken(), np.random.default_rng(0))


def test_an_attack_that_cannot_be_made_says_why_and_claims_nothing():
    explainer = Stands()
    explainer.local = True
    out = attempted(AttackRun(Guess(), Register(), explainer), spoken(), np.random.default_rng(0))
    assert "Stands explains each record by a model of its own" in str(out["failed"])
    assert np.isnan(out["score"]).all()
    assert out["quality"].shape == (0, 2)


def test_rows_of_one_person_are_one_person():
    """Two rows of 30 years are one person here: that person is singled out by either, and named by either."""
    data = Dataset(
        np.concatenate([OWNER, OTHERS, np.zeros((2, 3))]),
        np.zeros(9, dtype=int),
        SCHEMA,
        groups=np.array([0, 1, 1, 2, 3, 4, 5, 6, 7]),
    )
    at = np.arange(9)
    stage = scene_of(MODEL, data, at < 4, at >= 7)
    out = held(AttackRun(Linkage(), Register(), Shows([1, 2])), stage, np.random.default_rng(0))
    value = dict(zip(LINKED, out["quality"], strict=True))
    assert value["candidates"].tolist() == [1, 1]
    assert value["reidentified"].tolist() == [1, 1]
    assert value["newly_singled_out"].tolist() == [1, 0]
    assert float(out["fact/coverage@2"]) == pytest.approx(1 / 3)


def test_people_singled_out_so_far():
    out, value, _ = measured([0, 3, 0, 1])
    assert value["at_most_10_candidates"].tolist() == [1, 1, 1, 1]
    assert float(out["fact/coverage@4"]) == pytest.approx(2 / 4)  # the second and third person have one age
    new = np.r_[np.ones(20), np.zeros(30)]
    told = coverage(new, Dataset(np.zeros((40, 3)), np.zeros(40, dtype=int), SCHEMA))
    assert told == {"coverage@10": 0.25, "coverage@30": 0.5, "coverage@50": 0.5}


def test_an_answer_counts_as_much_as_it_is_sure():
    """Fifteen neighbours of whom nine say 1: the answer's 2 wins if it is worth more than 9 / 15 of the rest."""
    near = np.r_[np.ones(9), np.full(6, 3.0)].reshape(1, 15, 1)
    for sure, guess in ((1.0, 2.0), (0.5, 2.0), (0.37, 1.0), (0.38, 2.0), (0.0, 1.0)):
        assert _guessed(np.array([[2.0]]), near, np.array([sure])).tolist() == [[guess]]
    assert _guessed(np.array([[2.0]]), near[:, :0], np.array([0.1])).tolist() == [[2.0]]
    both = np.r_[np.ones(8), np.full(7, 3.0)].reshape(1, 15, 1)
    assert _guessed(np.array([[3.0]]), both, np.array([0.1])).tolist() == [[3.0]]  # .1 + .9 * 7 / 15 > .9 * 8 / 15
