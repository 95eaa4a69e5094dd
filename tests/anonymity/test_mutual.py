"""Answers that k people share, held against everybody's own answer and against parts cut by plain loops."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from jali.anonymity import mutual as _mutual
from jali.anonymity.frequency_table import FrequencyTable
from jali.anonymity.measures import matching
from jali.anonymity.mutual import Blocks, mutual
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Dataset
from jali.defend.explain.k_anonymous import KAnonymous
from jali.explain.face import FACE
from jali.explain.native.rows import predictions
from jali.explain.nice import NICE
from jali.models.fitted.linear import LinearModel
from tests.anonymity.tables import Rule, around, mixed
from tests.defend.explain.test_k_anonymous import answers, setting
from tests.explaining import explained, protected


def loss_of(train, quasi, rows):
    """Rows times the NCP of the least box that holds them."""
    total = 0.0
    for j in quasi:
        have, known = np.unique(train.X[rows, j]), np.unique(train.X[:, j])
        if train.schema.columns[j].kind == "category":
            total += (len(have) if len(have) > 1 else 0) / len(known)
        else:
            total += np.ptp(have) / np.ptp(known)
    return len(rows) * total / len(quasi)


def part_of(train, quasi, rows, own, k):
    """The rows left with one row after every cut, each the best of all by trying them."""
    while True:
        cuts = []
        for j in quasi:
            for v in np.unique(train.X[rows, j]):
                named = train.schema.columns[j].kind == "category"
                one = rows[train.X[rows, j] == v] if named else rows[train.X[rows, j] <= v]
                other = np.setdiff1d(rows, one)
                if min(len(one), len(other)) >= k:
                    cuts.append((loss_of(train, quasi, one) + loss_of(train, quasi, other), one, other))
        cuts = [cut for cut in cuts if cut[0] < loss_of(train, quasi, rows) - 1e-6]
        if not cuts:
            return rows
        _, one, other = min(cuts, key=lambda cut: round(cut[0], 9))
        rows = one if own in one else other


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_parts_are_those_of_plain_loops(seed):
    train, model = mixed(80, seed)
    quasi = [0, 2, 3, 4]
    said = model.logits(train.X).argmax(axis=1)
    rows = np.flatnonzero(said == 1)[:10]
    crowd, poll, cores = around(train, model, rows)
    found = mutual(poll, cores, Blocks(crowd, said, 5, lambda rows: np.ones(len(rows), dtype=bool)))
    regions = crowd.regions(found.boxes, train.X[rows])
    for i, own in enumerate(rows):
        mine = np.repeat(train.X[[own]], len(train), axis=0)
        mine[:, quasi] = train.X[:, quasi]
        able = np.flatnonzero((model.logits(mine).argmax(axis=1) == 1) & (said == 1))
        assert found.feasible[i] == (len(able) >= 5)
        part = part_of(train, quasi, able, own, 5) if found.feasible[i] else np.array([own])
        for j in quasi:
            if train.schema.columns[j].kind == "category":
                assert np.flatnonzero(regions.allowed[i, j]).tolist() == np.unique(train.X[part, j]).tolist()
            else:
                assert (regions.low[i, j], regions.high[i, j]) == (train.X[part, j].min(), train.X[part, j].max())


@pytest.mark.parametrize("block", [20, 500])
def test_k_people_would_get_the_same_answer(monkeypatch, block):
    """Whoever of those in an answer is put in the place of the one shown, k of them lead to it again."""
    monkeypatch.setattr(_mutual, "BLOCK", block)
    train, model, X = setting(400, 3)
    part = KAnonymous(solver="mutual", k=5)
    out = answers(part, model, X, train)
    ready = part.prepare(model, train.schema, train, None)
    shown = np.flatnonzero(out.found)[:12]
    assert len(shown) == 12
    assert (matching(out.regions.pick(shown), train) >= 5).all()
    for i in shown:
        one = out.regions.pick(np.array([i]))
        who = np.flatnonzero(one.covers(train.X, np.array([0, 2, 3, 4]))[0])
        rows = np.repeat(train.X[[out.origin[i]]], len(who), axis=0)
        rows[:, [0, 2, 3, 4]] = train.X[who][:, [0, 2, 3, 4]]
        again = ready.regions_for(rows, who)
        same = again.given & again.regions.same(one.pick(np.zeros(len(who), dtype=int)))
        assert same.sum() >= 5
        assert same[who == out.origin[i]].all()


def test_withheld_where_fewer_than_k_could_be_shown():
    """Seven people have the outcome: seven can share an answer, eight cannot."""
    train, _, X = setting(60)
    lucky = train.X[:7, 1]
    model = Rule(lambda Z: np.isin(Z[:, 1], lucky))
    assert not answers(KAnonymous(solver="mutual", k=8), model, X, train).found.any()
    assert answers(KAnonymous(solver="mutual", k=8), model, X, train).withheld.all()
    assert answers(KAnonymous(solver="mutual", k=7), model, X, train).found.all()


def test_people_are_counted_once():
    """Seven rows of four people, all with the outcome."""
    train, _, X = setting(60)
    groups = np.r_[[0, 0, 1, 1, 2, 2, 3], np.arange(10, 63)]
    train = Dataset(train.X, train.y, train.schema, groups=groups)
    model = Rule(lambda Z: np.isin(Z[:, 1], train.X[:7, 1]))
    out = answers(KAnonymous(solver="mutual", k=4), model, X, train)
    assert out.found.any()
    assert np.isin(out.origin[out.found], [0, 2, 4, 6]).all()  # others are not where their person is counted
    assert not answers(KAnonymous(solver="mutual", k=5), model, X, train).found.any()


def test_nobody_is_shown_where_no_person_is_counted_with_the_outcome():
    """Only second rows of people have the outcome, and people are counted at their first."""
    train, _, X = setting(60)
    train = Dataset(train.X, train.y, train.schema, groups=np.arange(60) // 2)
    model = Rule(lambda Z: np.isin(Z[:, 1], train.X[[1, 3, 5], 1]))
    out = answers(KAnonymous(solver="mutual", k=2), model, X, train)
    assert not out.found.any()
    assert out.withheld.any()


def test_blocks_hold_enough_people_and_everybody_once():
    train, _ = mixed(400, 0, ages=30)
    crowd = FrequencyTable.of(train)
    blocks = crowd.parted(np.arange(len(crowd.cells)), lambda cells: _mutual._cut(crowd, crowd.count, cells, 50))
    people = np.bincount(blocks, crowd.count)
    assert len(people) > 2
    assert people.min() >= 50
    assert people.sum() == 400


def test_order_of_rows_changes_nothing():
    train, model, X = setting()
    turned = Dataset(train.X[::-1], train.y[::-1], train.schema)
    part = KAnonymous(NICE(immutable="free"), solver="mutual")
    one, other = (answers(part, model, X[:40], table) for table in (train, turned))
    same = one.found & (one.origin == len(train) - 1 - other.origin)
    assert same.mean() > 0.9  # equally near rows may be chosen by their order
    assert one.regions.pick(same).same(other.regions.pick(same)).all()


def test_it_loses_more_than_the_least_and_keeps_k():
    train, model, X = setting()
    loss = {}
    for solver, k in itertools.product(("optimal", "mutual"), (5, 10)):
        part = KAnonymous(solver=solver, k=k)
        there = explained(part.inner, model, X, train.schema, train, np.random.default_rng(0))
        kept = protected(part, model, there, train)
        assert (kept.people[kept.able] >= k).all()
        loss[solver, k] = kept.loss.mean()
    assert loss["optimal", 5] < loss["mutual", 5] < loss["mutual", 10]


# --- which rows may be shown ---------------------------------------------------------------------------------------


def graded(seed):
    """People, a linear model that is sure of some of them only, labels that it often gets wrong, and who asks."""
    train, _ = mixed(500, seed, ages=8)
    rng = np.random.default_rng(seed)
    coef = np.zeros((len(Encoding(train.schema).source), 2))
    coef[:, 1] = rng.normal(size=len(coef)) / 2
    coef[1, 1] = 2.0  # income
    intercept = np.array([np.median(Encoding(train.schema).encode(train.X) @ coef[:, 1]), 0.0])
    model = LinearModel(Encoding(train.schema), coef, intercept)
    label = predictions(model, train.X)[1]
    y = np.where(rng.random(len(label)) < 0.4, 1 - label, label)
    X = mixed(120, seed + 50, ages=8)[0].X
    return Dataset(train.X, y, train.schema), model, X[predictions(model, X)[1] == 0]


def confident(train, model, rows):
    return predictions(model, rows)[0].max(axis=1) >= 0.6


RULES = {
    "justified": (NICE(candidates="justified"), lambda train, label, sure: label == train.y, False),
    "confident": (FACE(10, confidence=0.6, sparse=0.0), lambda train, label, sure: sure, True),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", [0, 1])
def test_k_people_remain_of_those_whom_the_explainer_may_show(rule, seed):
    """By brute force: who is in the box, may be shown as they are, and could be shown with the private values."""
    train, model, X = graded(seed)
    explainer, shown, by_row = RULES[rule]
    label = predictions(model, train.X)[1]
    able = (label == 1) & shown(train, label, confident(train, model, train.X))
    out = answers(KAnonymous(explainer, k=5, solver="mutual"), model, X, train)
    quasi = [0, 2, 3, 4]
    assert out.found.sum() > 10
    for i in np.flatnonzero(out.found):
        inside = able & out.regions.pick(np.array([i])).covers(train.X, np.array(quasi))[0]
        rows = np.repeat(train.X[[out.origin[i]]], inside.sum(), axis=0)
        rows[:, quasi] = train.X[inside][:, quasi]
        good = predictions(model, rows)[1] == 1
        if by_row:
            good &= confident(train, model, rows)
        assert good.sum() >= 5


def test_an_explainer_that_does_not_say_which_rows_it_shows_is_refused():
    train, model, X = graded(0)
    with pytest.raises(JaliError, match="must know which training rows may be shown, and nice does not say"):
        answers(KAnonymous(NICE("sparsity"), k=5, solver="mutual"), model, X, train)
