"""Who an answer cannot have been made for, against making it again one person at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from jali.audit.attack_runs import AttackRun, TargetModel, made
from jali.audit.grading.identity import GradesIdentity
from jali.audit.preparations import Preparations
from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual
from jali.core.query import Oracle
from jali.core.values import Column, Dataset, Schema
from jali.defend.explain.k_anonymous import KAnonymous
from jali.defend.explain.mondrian import Mondrian
from jali.explain.face import FACE
from jali.explain.nice import NICE
from jali.knowledge.register import Register
from jali.query_attacks.linkage import Linkage
from jali.query_attacks.minimality import Minimality
from tests.anonymity.tables import Rule, mixed
from tests.explaining import Direct, Ready, explained

QUASI = [0, 2, 3, 4]
N, ASK = 400, 120


def target():
    data, model = mixed(N + ASK, 5, ages=30, hard=1.5)
    at = np.arange(len(data))
    denied = model.logits(data.X).argmax(axis=1) == 0
    member, scored = at < N, (at >= N) & denied
    return TargetModel.of(Preparations(model, data.rows(member), draws), data, member, scored, draws)


def draws(name):
    return np.random.default_rng(len(name))


def measured(part, query_attack):
    mine = target()
    graded = made(AttackRun(query_attack, Register(), part), mine, np.random.default_rng(0)).graded
    answer = explained(part, mine.model, mine.records.X, mine.train.schema, mine.train, np.random.default_rng(0))
    return mine, answer, dict(zip(GradesIdentity.per_record, graded.values, strict=True))


@pytest.mark.parametrize(
    "part", [KAnonymous(), KAnonymous(solver="optimal"), KAnonymous(solver="as_released"), KAnonymous(solver="mutual")]
)
def test_those_are_left_for_whom_the_answer_comes_out_the_same(part):
    mine, answer, value = measured(part, Minimality())
    fits = answer.regions.covers(mine.train.X, np.array(QUASI))
    ready = mine.prepared.of(part)
    for i in np.flatnonzero(answer.found)[:8]:
        left = []
        for j in np.flatnonzero(fits[i]):
            row = mine.train.X[[answer.origin[i]]].copy()
            row[:, QUASI] = mine.train.X[j, QUASI]
            if mine.model.logits(row).argmax() == 1 and mine.model.logits(mine.train.X[[j]]).argmax() == 1:
                again = ready.regions_for(row, np.array([j]))
                if again.given[0] and again.regions.same(answer.regions.pick(np.array([i])))[0]:
                    left.append(j)
        assert answer.origin[i] in left
        assert value["candidates"][i] == len(left)


def test_the_least_region_betrays_and_a_shared_one_does_not():
    least, shared = measured(KAnonymous(), Minimality())[2], measured(KAnonymous(solver="mutual"), Minimality())[2]
    assert (measured(KAnonymous(), Linkage())[2]["candidates"] >= 10).all()
    assert least["singled_out"].mean() > 0.1
    assert (least["candidates"] < 10).mean() > 0.9
    assert (shared["candidates"] >= 10).all()


def test_asking_the_model_rules_out_who_would_be_denied():
    mine, answer, value = measured(Mondrian(), Minimality(by="model"))
    fits = answer.regions.covers(mine.train.X, np.array(QUASI))
    for i in np.flatnonzero(answer.found)[:20]:
        rows = np.repeat(mine.train.X[[answer.origin[i]]], fits[i].sum(), axis=0)
        rows[:, QUASI] = mine.train.X[fits[i]][:, QUASI]
        assert value["candidates"][i] == (mine.model.logits(rows).argmax(axis=1) == 1).sum()
    known = mine.model.logits(mine.train.X).argmax(axis=1) == 1
    whole = measured(Mondrian(), Minimality())[2]
    assert (whole["candidates"] <= value["candidates"]).all()  # a class is one answer for all, but not all can be shown
    for i in np.flatnonzero(answer.found)[:20]:
        rows = np.repeat(mine.train.X[[answer.origin[i]]], fits[i].sum(), axis=0)
        rows[:, QUASI] = mine.train.X[fits[i]][:, QUASI]
        assert whole["candidates"][i] == ((mine.model.logits(rows).argmax(axis=1) == 1) & known[fits[i]]).sum()


def test_private_values_that_are_ranges_rule_out_nobody():
    part = KAnonymous(repair="interval")
    mine, answer, value = measured(part, Minimality())
    private = answer.regions.high[:, 1] > answer.regions.low[:, 1]
    people = answer.regions.covers(mine.train.X, np.array(QUASI)).sum(axis=1)
    assert private[answer.found].all()
    assert np.array_equal(value["candidates"][answer.found], people[answer.found])


def test_what_cannot_be_made_again_is_refused():
    with pytest.raises(JaliError, match='k_anonymous or mondrian, or minimality\\(by="model"\\)'):
        measured(NICE(), Minimality())
    assert isinstance(measured(NICE(), Minimality(by="model"))[1], Counterfactual)


# --- people who would get no answer --------------------------------------------------------------------------------


def crowded():
    """Ten people of 30 with the outcome and five without: the answer is one combination."""
    schema = Schema((Column("age", "integer", 0, 99, role="quasi"), Column("income", low=0, high=9)), favourable=1)
    X = np.array([[30.0, 6]] * 10 + [[30.0, 1]] * 5 + [[50.0, 1]] * 3)
    asks = np.array([[31.0, 2.0]])
    model = Rule(lambda Z: Z[:, 1] > 5)
    data = Dataset(np.concatenate([X, asks]), model.logits(np.concatenate([X, asks])).argmax(axis=1), schema)
    member = np.arange(len(data)) < len(X)
    return TargetModel.of(Preparations(model, data.rows(member), draws), data, member, ~member, draws)


@pytest.mark.parametrize("solver", ["grasp", "optimal", "mutual"])
def test_no_answer_is_not_taken_for_one_that_is_a_single_combination(solver):
    """The five of 30 who are denied are never shown: ten people are left, not fifteen."""
    part = KAnonymous(NICE(), k=10, solver=solver)
    found = made(AttackRun(Minimality(), Register(), part), crowded(), np.random.default_rng(0)).graded
    value = dict(zip(GradesIdentity.per_record, found.values, strict=True))
    assert value["candidates"].tolist() == [10]


@pytest.mark.parametrize("solver", ["grasp", "mutual"])
@pytest.mark.parametrize("inner", [NICE(candidates="justified"), FACE(10, sparse=0.3)])
def test_those_are_left_for_whom_the_defence_gives_the_answer_when_run_from_scratch(inner, solver):
    """Each candidate is put into the training set with the private values shown, and everything is prepared anew."""
    mine = target()
    y = np.where(np.arange(N) % 3 == 0, 1 - mine.train.y, mine.train.y)
    train = Dataset(mine.train.X, y, mine.train.schema)
    part = KAnonymous(inner, solver=solver)
    ready = part.prepare(mine.model, train.schema, train, np.random.default_rng(0))
    answer = ready.explain(mine.records.X, np.random.default_rng(0))
    oracle = Oracle(train.schema, mine.model.logits, lambda _: answer.public(), regions_for=ready.regions_for)
    claim = Minimality().run(oracle, train, mine.records, np.random.default_rng(0))
    shown = inner.prepare(mine.model, train.schema, train, None).showable()
    said = mine.model.logits(train.X).argmax(axis=1)
    for i in np.flatnonzero(answer.found)[:3]:
        region = answer.regions.pick(np.array([i]))
        left = 0
        for j in np.flatnonzero(region.covers(train.X, np.array(QUASI))[0] & shown & (said == 1)):
            X = train.X.copy()
            X[j] = train.X[answer.origin[i]]
            X[j, QUASI] = train.X[j, QUASI]
            if mine.model.logits(X[[j]]).argmax() == 1:
                again = KAnonymous(ShowsOne(int(j), shown), solver=solver)
                out = explained(again, mine.model, train.X[:1], train.schema, Dataset(X, y, train.schema), None)
                left += bool(out.found[0] and out.regions.same(region)[0])
        assert claim.candidates[i] == left


@dataclass(frozen=True, eq=False)
class ShowsOne(Direct):
    """An explainer that shows one training row to everybody, and may show the rows given."""

    row: int
    shown: Any
    gives = "counterfactual"
    wants = "labels"
    reads_training_data = True

    def keeps_immutable(self):
        return True

    def prepare(self, model, schema, train, rng):
        return ShowsOneReady(self, model, schema, train)

    def answer(self, model, X, schema, train, rng):
        return Counterfactual(train.X[[self.row]], np.ones(1, dtype=bool), origin=np.array([self.row]))


class ShowsOneReady(Ready):
    def showable(self):
        return self.part.shown

    def may_show(self, rows):
        return np.ones(len(rows), dtype=bool)
