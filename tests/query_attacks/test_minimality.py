"""Who an answer cannot have been made for, against making it again one person at a time."""

from __future__ import annotations

import numpy as np
import pytest

from jali.audit.attack_runs import AttackRun, TargetModel, made
from jali.audit.grading.identity import GradesIdentity
from jali.audit.preparations import Preparations
from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual
from jali.defend.explain.k_anonymous import KAnonymous
from jali.defend.explain.mondrian import Mondrian
from jali.explain.nice import NICE
from jali.knowledge.register import Register
from jali.query_attacks.linkage import Linkage
from jali.query_attacks.minimality import Minimality
from tests.anonymity.tables import mixed
from tests.explaining import explained

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
                again = ready.regions_for(row)
                if again.same(answer.regions.pick(np.array([i])))[0]:
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
