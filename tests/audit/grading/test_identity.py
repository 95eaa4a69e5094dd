"""Who is singled out, named rightly and disclosed, counted by hand on four training people and three others."""

from __future__ import annotations

import numpy as np
import pytest

from jali.audit.attack_runs import AttackRun, made
from jali.audit.grading.identity import GradesIdentity, _coverage
from jali.audit.guessing import guessed, strongest, without
from jali.core.claims import Identity
from jali.core.errors import JaliError
from jali.core.explanation import Attribution, Counterfactual
from jali.core.grading import Truth
from jali.core.values import Column, Dataset, Schema
from jali.knowledge.population_register import PopulationRegister
from jali.knowledge.register import Register
from jali.query_attacks.linkage import Linkage
from tests.audit.seven_people import MODEL, OTHERS, SCHEMA, TRAIN, Shows, target


def graded(explainer, knowledge=Register(), groups=None, seed=0):  # noqa: B008 (frozen)
    """The grade of linkage against an explainer, its values and where they speak, by metric."""
    run = AttackRun(Linkage(), knowledge, explainer)
    out = made(run, target(len(explainer.rows), groups), np.random.default_rng(seed)).graded
    names = GradesIdentity.per_record
    return out, dict(zip(names, out.values, strict=True)), dict(zip(names, out.defined, strict=True))


def test_real_rows_are_linked_to_their_people():
    out, value, there = graded(Shows([0, 3, 0, -1]))
    assert value["candidates"].tolist() == [1, 1, 1, 0]
    assert value["singled_out"].tolist() == [1, 1, 1, 0]
    assert value["newly_singled_out"].tolist() == [1, 1, 0, 0]  # the third shows the first person again
    assert value["reidentified"].tolist() == [1, 1, 1, 0]
    assert out.truth.tolist() == [True, True, True, False]
    assert there["candidates"].tolist() == [True, True, True, False]


def test_private_values_are_disclosed_beyond_what_could_beguessed():
    """Row 0: income 1 and debt 5. The nearest outsider of the same age has income 1 and debt 9: half is guessed."""
    _, value, there = graded(Shows([0]))
    assert value["disclosed"].tolist() == [1]
    assert there["disclosed_baseline"].tolist() == [True]
    # With 15 neighbours of three outsiders everybody is asked: debt 9 twice, and of three incomes the nearest first.
    assert value["disclosed_baseline"][0] == pytest.approx(0.5)
    assert value["disclosure_advantage"][0] == pytest.approx(0.5)


def test_one_of_two_who_fit_is_right_half_of_the_time():
    right = [graded(Shows([1]), seed=seed)[0].truth[0] for seed in range(400)]
    assert np.mean(right) == pytest.approx(0.5, abs=0.08)


def test_an_explainer_that_names_no_training_row_reidentifies_nobody():
    class Made(Shows):
        def answer(self, model, X, schema, train, rng):
            return Counterfactual(train.X[:1], np.array([True]))

    assert graded(Made([0]))[0].truth.tolist() == [False]


def test_in_a_population_register_more_people_fit_and_only_those_behind_the_model_are_real():
    """Two outsiders of 30 and one of 20 are in it; the answer shows the only training row of 20."""
    _, value, _ = graded(Shows([0]), PopulationRegister())
    assert value["candidates"].tolist() == [2]
    assert value["singled_out"].tolist() == [0]


def test_rows_of_one_person_are_one_person():
    """Two rows of 30 years are one person here: that person is singled out by either, and named by either."""
    out, value, _ = graded(Shows([1, 2]), groups=np.array([0, 1, 1, 2, 3, 4, 5, 6, 7]))
    assert value["candidates"].tolist() == [1, 1]
    assert value["reidentified"].tolist() == [1, 1]
    assert value["newly_singled_out"].tolist() == [1, 0]
    assert out.overall["coverage@2"] == pytest.approx(1 / 3)


def test_people_singled_out_so_far():
    out, value, _ = graded(Shows([0, 3, 0, 1]))
    assert value["at_most_10_candidates"].tolist() == [1, 1, 1, 1]
    assert out.overall["coverage@4"] == pytest.approx(2 / 4)  # the second and third person have one age
    new = np.r_[np.ones(20), np.zeros(30)]
    found = _coverage(new, Dataset(np.zeros((40, 3)), np.zeros(40, dtype=int), SCHEMA))
    assert found == {"coverage@10": 0.25, "coverage@30": 0.5, "coverage@50": 0.5}


def test_an_answer_counts_as_much_as_it_is_sure():
    """Fifteen neighbours of whom nine say 1: the answer's 2 wins if it is worth more than 9 / 15 of the rest."""
    near = np.r_[np.ones(9), np.full(6, 3.0)].reshape(1, 15, 1)
    for sure, guess in ((1.0, 2.0), (0.5, 2.0), (0.37, 1.0), (0.38, 2.0), (0.0, 1.0)):
        assert guessed(np.array([[2.0]]), near, np.array([sure])).tolist() == [[guess]]
    assert guessed(np.array([[2.0]]), near[:, :0], np.array([0.1])).tolist() == [[2.0]]
    both = np.r_[np.ones(8), np.full(7, 3.0)].reshape(1, 15, 1)
    assert guessed(np.array([[3.0]]), both, np.array([0.1])).tolist() == [[3.0]]  # .1 + .9 * 7 / 15 > .9 * 8 / 15


def truth(explanation, others=OTHERS):
    records = Dataset(np.zeros((2, 3)), [0, 0], SCHEMA)
    train = Dataset(TRAIN, np.zeros(4, dtype=int), SCHEMA)
    rest = Dataset(others, np.zeros(len(others), dtype=int), SCHEMA)
    return Truth(MODEL, train, records, rest, np.zeros(2, bool), None, records.X, explanation)


def test_a_person_who_did_not_train_the_model_is_never_right():
    """Register rows from 4 on are of others: they count as candidates, and nothing of them is disclosed."""
    claim = Identity(np.array([1.0, 0.5]), np.array([5, 0]), np.array([1, 2]), TRAIN[:2])
    explanation = Counterfactual(TRAIN[:2], np.ones(2, bool), origin=np.array([1, 0]))
    out = GradesIdentity().grade(claim, truth(explanation))
    value = dict(zip(GradesIdentity.per_record, out.values, strict=True))
    there = dict(zip(GradesIdentity.per_record, out.defined, strict=True))
    assert out.truth.tolist() == [False, True]
    assert value["singled_out"].tolist() == [1, 0]
    assert value["newly_singled_out"].tolist() == [0, 0]
    assert there["disclosed"].tolist() == [False, True]


def test_without_others_there_is_no_baseline():
    claim = Identity(np.ones(2), np.array([0, 1]), np.array([1, 1]), TRAIN[:2])
    explanation = Counterfactual(TRAIN[:2], np.ones(2, bool), origin=np.array([0, 1]))
    out = GradesIdentity().grade(claim, truth(explanation, OTHERS[:0]))
    there = dict(zip(GradesIdentity.per_record, out.defined, strict=True))
    assert there["disclosed"].all()
    assert not there["disclosed_baseline"].any()
    assert not there["disclosure_advantage"].any()


def test_answers_that_are_no_counterfactuals_are_refused():
    claim = Identity(np.ones(2), np.zeros(2), np.ones(2), TRAIN[:2])
    with pytest.raises(JaliError, match="for counterfactuals only"):
        GradesIdentity().grade(claim, truth(Attribution(np.zeros((2, 3)))))


# --- the baseline --------------------------------------------------------------------------------------------------


def test_the_row_of_the_asker_is_part_of_the_baseline():
    """All who ask have the private values of the person shown, and nobody outside has: nothing is the answer's."""
    schema = Schema((Column("age", role="quasi"), Column("income"), Column("debt")), favourable=1)
    n = 40
    rng = np.random.default_rng(0)
    train = np.column_stack([np.arange(n), rng.integers(10, 20, n), rng.integers(10, 20, n)]).astype(float)
    asker = train.copy()
    asker[:, 0] += 1
    others = np.column_stack([np.arange(n), rng.integers(0, 9, n), rng.integers(0, 9, n)]).astype(float)
    sets = [Dataset(X, np.zeros(len(X), dtype=int), schema) for X in (train, asker, others)]
    explanation = Counterfactual(train, np.ones(n, bool), origin=np.arange(n))
    known = Truth(MODEL, sets[0], sets[1], sets[2], np.zeros(n, bool), None, asker, explanation)
    claim = Identity(np.ones(n), np.arange(n), np.ones(n, dtype=int), train)
    value = dict(zip(GradesIdentity.per_record, GradesIdentity().grade(claim, known).values, strict=True))
    assert value["disclosed"].mean() == 1
    assert value["disclosed_baseline"].mean() == 1
    assert value["disclosure_advantage"].mean() == 0


def test_a_model_of_the_population_knows_what_neighbours_do_not():
    """The private value follows one of six quasi-identifiers: neighbours in all six are not alike in that one."""
    rng = np.random.default_rng(1)
    columns = (*(Column(f"q{j}", role="quasi", low=0, high=1) for j in range(6)), Column("private"))
    X = rng.random((2000, 7))
    X[:, 6] = np.floor(X[:, 0] * 10)
    near, model, asker = without(X[:300], 0 * X[:300], Dataset(X[300:], np.zeros(1700, dtype=int), Schema(columns)))
    assert (near[:, 6] == X[:300, 6]).mean() < 0.7
    assert (model[:, 6] == X[:300, 6]).mean() > 0.9
    best = strongest([near, model, asker], X[:300])
    assert (best[:, 6] == X[:300, 6]).mean() > 0.9


def test_no_source_is_chosen_by_what_it_is_graded_on():
    """Ten sources that guess at random are right as often as one: choosing among them on the same people would gain."""
    rng = np.random.default_rng(2)
    person = rng.integers(0, 2, (10, 400)).astype(float)
    guesses = [rng.integers(0, 2, (10, 400)).astype(float) for _ in range(10)]
    assert (strongest(guesses, person) == person).mean() == pytest.approx(0.5, abs=0.03)
    assert strongest([person + 1, person], person).tolist() == person.tolist()
