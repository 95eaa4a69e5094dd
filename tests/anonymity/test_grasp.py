from __future__ import annotations

import numpy as np
import pytest

from jali.anonymity import local_search as _climb
from jali.anonymity.frequency_table import FrequencyTable
from jali.anonymity.grasp import Cores, Effort, _neighbour, able, as_released, grasp, grown, mistaken
from jali.anonymity.local_search import Climb
from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema
from tests.anonymity.tables import NAMES, Rule, around, bank, mixed, toy


def said(train, model):
    return model.logits(train.X).argmax(axis=1)


def test_the_published_example():
    """k = 3, alpha = 1: from Fiona to Gina, whom Ingrid joins; half of the ages are accepted, none can go."""
    train = toy()
    crowd, poll, cores = around(train, bank(), np.array([NAMES.index("Fiona")]))
    found = grasp(crowd, poll, cores, said(train, bank()), Effort(3, 1, 3))
    ages = crowd.values[0]
    assert (ages[found.boxes.low[0, 0]], ages[found.boxes.high[0, 0]]) == (24, 27)
    assert found.boxes.allowed[0, 1:].tolist() == [[True, False], [True, False]]
    assert found.loss[0] == pytest.approx(3 / 47 / 3)
    assert found.pure[0] == 0.5
    assert crowd.people(found.boxes)[0] == 3


def test_neighbours_are_the_nearest_rows_one_by_one():
    """Against a plain loop over rows: which of them can be drawn, and how often."""
    train, model = mixed(60, 2, ages=8)
    crowd, _, cores = around(train, model, np.array([0]))
    box = crowd.around(cores.own)
    inside, many = crowd.covers(box), able(crowd, said(train, model))[[1]]
    alpha, tries = 7, 20_000
    draws = np.random.default_rng(0).random(tries)
    far = np.repeat(crowd.gap(box), tries, axis=0)
    cell = _neighbour(far, np.repeat(many, tries, axis=0), np.repeat(inside, tries, axis=0), alpha, draws, False)
    rows = []
    for i in range(len(train)):
        distance = 0.0
        for j, column in enumerate(train.schema.columns):
            if column.role == "quasi" and column.kind == "category":
                distance += train.X[i, j] != train.X[0, j]
            elif column.role == "quasi":
                distance += abs(train.X[i, j] - train.X[0, j]) / np.ptp(train.X[:, j])
        if distance > 0 and said(train, model)[i] == 1:
            rows.append((round(distance, 9), int(crowd.place[i])))
    nearest = [place for _, place in sorted(rows)[:alpha]]
    seen = np.bincount(cell, minlength=len(crowd.cells)) / tries
    want = np.bincount(nearest, minlength=len(crowd.cells)) / alpha
    np.testing.assert_allclose(seen, want, atol=4 * 0.5 / np.sqrt(tries))


def test_local_search_keeps_its_improvements():
    train, model = mixed(300, 1, ages=30, hard=1.5)
    rows = np.flatnonzero(said(train, model) == 1)[:40]
    crowd, poll, cores = around(train, model, rows)
    who, effort = np.arange(len(rows)), Effort(10, 20, 1)
    draws = np.random.default_rng(0).random((len(rows), 10))
    boxes, there = grown(crowd, cores, able(crowd, said(train, model)), who, effort, draws)
    climb = Climb.of(crowd, poll.pureness, boxes, cores.own, who)
    pure, loss = climb.pure.copy(), climb.loss.copy()
    climb.run(10)
    assert there.all()
    assert (climb.pure >= pure - 1e-9).all()
    equal = climb.pure < pure + 1e-9
    assert (climb.loss[equal] <= loss[equal] + 1e-9).all()
    assert climb.loss.mean() < 0.9 * loss.mean()
    np.testing.assert_allclose(poll.pureness(climb.boxes, who)[0], climb.pure)
    np.testing.assert_allclose(crowd.ncp(climb.boxes), climb.loss)
    assert crowd.people(climb.boxes).min() >= 10


def test_changes_of_one_value_add_the_loss_they_say():
    """Against the NCP of the changed boxes; those that swap lose less than the box they come from."""
    train, model = mixed(300, 4, ages=30)
    rows = np.flatnonzero(said(train, model) == 1)[:20]
    crowd, _, cores = around(train, model, rows)
    draws = np.random.default_rng(0).random((20, 15))
    boxes, _ = grown(crowd, cores, able(crowd, said(train, model)), np.arange(20), Effort(15, 20, 1), draws)
    for changes in (_climb._less(crowd, boxes, cores.own), _climb._more(crowd, boxes)):
        made = _climb._made(boxes, changes).boxes
        np.testing.assert_allclose(crowd.ncp(made) - crowd.ncp(boxes)[changes.of], changes.loss, atol=1e-12)
        assert crowd.covers(made)[np.arange(len(changes.of)), crowd.place[rows][changes.of]].all()
    swapped = _climb._swaps(crowd, boxes, cores.own)
    assert len(swapped.of) > 100
    assert (crowd.ncp(swapped.boxes) < crowd.ncp(boxes)[swapped.of]).all()


def test_a_pure_box_of_little_loss_is_found_without_asking_on():
    """Where the outcome hangs on no quasi-identifier, the model is asked once, about what the starts have become."""
    train, _ = mixed(300, 1, ages=30)
    asked = []
    model = Rule(lambda X: asked.append(len(X)) or X[:, 1] > 0.5)
    rows = np.flatnonzero(train.X[:, 1] > 0.5)[:20]
    crowd, poll, cores = around(train, model, rows)
    labels = said(train, model)
    asked.clear()
    found = grasp(crowd, poll, cores, labels, Effort(10, 20, 3))
    assert (found.pure == 1).all()
    assert len(asked) == 1


def test_every_box_holds_its_counterfactual_and_is_cut_to_its_people():
    train, model = mixed(200, 5, ages=25)
    rows = np.flatnonzero(said(train, model) == 1)[:30]
    crowd, poll, cores = around(train, model, rows)
    for solver, labels in ((grasp, said(train, model)), (as_released, train.y)):
        found = solver(crowd, poll, cores, labels, Effort(8, 10, 2))
        inside = crowd.covers(found.boxes)
        assert inside[np.arange(len(rows)), crowd.place[rows]].all()
        np.testing.assert_allclose(crowd.ncp(crowd.hull(inside)), found.loss)
        assert crowd.people(found.boxes).min() >= 8


def test_more_starts_are_never_worse():
    train, model = mixed(300, 7, ages=30)
    rows = np.flatnonzero(said(train, model) == 1)[:40]
    crowd, poll, cores = around(train, model, rows)
    found = [grasp(crowd, poll, cores, said(train, model), Effort(10, 20, n)) for n in (1, 6)]
    assert (found[1].pure >= found[0].pure - 1e-9).all()
    assert found[1].loss[found[1].pure < found[0].pure + 1e-9].mean() <= found[0].loss.mean() + 1e-9


def test_nobody_else_with_the_outcome():
    """Two people are accepted and three are needed: there is nobody to take in."""
    train, _ = mixed(30, 0, ages=30)
    few = Rule(lambda X: np.isin(X[:, 1], train.X[:2, 1]))
    crowd, poll, cores = around(train, few, np.array([0, 1]))
    apart = Cores(cores.rows[:1], cores.own[:1], cores.wanted[:1])
    found = grasp(crowd, poll, apart, said(train, few), Effort(30, 5, 2))
    assert not found.feasible[0]


def test_as_released_lists_numbers_by_the_kind_of_another_column():
    """Children, the second quasi-identifier, is matched like the second column: that one is a number, so as a range.

    Job and sex, the third and fourth, are matched like children and job: the third as a range of its codes.
    """
    train, model = mixed(200, 5, ages=25)
    crowd = FrequencyTable.of(train)
    kinds = [c.kind != "category" for c in train.schema.columns[: len(crowd.quasi)]]
    assert kinds == [True, True, True, False]
    rows = np.flatnonzero(said(train, model) == 1)[:30]
    crowd, poll, cores = around(train, model, rows)
    ours = grasp(crowd, poll, cores, said(train, model), Effort(10, 20, 3))
    theirs = as_released(crowd, poll, cores, train.y, Effort(10, 20, 3))
    assert theirs.loss.mean() > ours.loss.mean()
    assert theirs.pure.mean() <= ours.pure.mean() + 1e-9


def by_age(ages, accepted):
    """People of some ages; the column before age is a category, so the released code matches ages as a list."""
    schema = Schema(
        (
            Column("region", "category", categories=("north", "south")),
            Column("age", "integer", 0, 99, role="quasi"),
        ),
        favourable=1,
    )
    X = np.column_stack([np.zeros(len(ages)), ages]).astype(float)
    model = Rule(lambda Z: np.isin(Z[:, 1], accepted))
    return Dataset(X, model.logits(X).argmax(axis=1), schema), model


def test_as_released_neighbours_are_near_by_the_right_kinds():
    """By hand, k = 3 and alpha = 3, of whom those in the box are some: around 40 the nearest are 40, 41 and 60.

    Whichever is taken first, the other follows, for 15 is farther from the box. The 50 in between is matched by the
    range 40 to 60, but not by the list 40, 41, 60. If who is near were decided by lists too, all others would be
    equally far, and the first of them, 15, would come before 60.
    """
    train, model = by_age([15, 40, 41, 50, 60], accepted=[15, 40, 41, 60])
    crowd, poll, cores = around(train, model, np.array([1]))
    found = as_released(crowd, poll, cores, train.y, Effort(3, 3, 2))
    ages = crowd.values[0]
    assert (ages[found.boxes.low[0, 0]], ages[found.boxes.high[0, 0]]) == (40, 60)
    assert found.loss[0] == pytest.approx(20 / 45)
    one = Effort(3, 3, 1)
    boxes, there = grown(crowd, cores, able(crowd, train.y), np.array([0]), one, np.zeros((1, 3)), mistaken(crowd))
    assert there.all()
    inside = mistaken(crowd).covers(boxes)[0]
    assert ages[crowd.cells[inside, 0]].tolist() == [40, 41, 60]


GERMAN = (
    *("status", "duration:number", "credit-history", "purpose", "amount:number", "savings", "employment"),
    *("installment-rate:number", "personal-status", "debtors", "residence-time:number", "property", "age:number"),
    *("installments", "housing", "existing-credits:number", "job", "liable-people:number", "telephone", "foreign"),
)
LISTED = ("age", "personal-status", "foreign", "residence-time", "employment", "property", "housing", "job")


def test_as_released_kinds_follow_the_order_in_which_the_authors_list_the_quasi_identifiers():
    """German credit: by the positions in their list, personal status, employment and job are ranges, age is a list."""
    columns = []
    for told in GERMAN:
        name, _, number = told.partition(":")
        role = "quasi" if name in LISTED else "private"
        kind = {} if number else {"kind": "category", "categories": ("a", "b")}
        columns.append(Column(name, role=role, **kind))
    train = Dataset(np.array([[0.0] * 20, [1.0] * 20]), [0, 1], Schema(tuple(columns)))
    crowd = FrequencyTable.of(train)
    names = [columns[j].name for j in crowd.quasi]
    ranges = {name for name, ranged in zip(names, mistaken(crowd, LISTED).ranged, strict=True) if ranged}
    assert ranges == {"personal-status", "employment", "job"}
    in_table = {name for name, ranged in zip(names, mistaken(crowd).ranged, strict=True) if ranged}
    assert in_table == {"personal-status", "age", "foreign"}
    with pytest.raises(JaliError, match=r"each of the quasi-identifiers employment, .* once"):
        mistaken(crowd, LISTED[1:])


def test_the_same_row_is_widened_in_the_same_way():
    train, model = mixed(200, 5, ages=25)
    rows = np.flatnonzero(said(train, model) == 1)[:10]
    whole = grasp(*around(train, model, rows), said(train, model), Effort(10, 20, 3))
    alone = grasp(*around(train, model, rows[4:5]), said(train, model), Effort(10, 20, 3))
    np.testing.assert_array_equal(whole.boxes.low[4], alone.boxes.low[0])
    np.testing.assert_array_equal(whole.boxes.allowed[4], alone.boxes.allowed[0])
