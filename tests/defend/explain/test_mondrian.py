from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from jali.anonymity.frequency_table import FrequencyTable
from jali.anonymity.measures import matching
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema
from jali.defend.explain import mondrian
from jali.defend.explain.mondrian import Mondrian, partition
from tests.anonymity.tables import Rule, mixed
from tests.explaining import explained


def test_one_number_is_halved_at_its_median():
    """0 to 7 with k = 2: below 4 and from 4, then each in two again."""
    schema = Schema((Column("age", role="quasi"),))
    crowd = FrequencyTable.of(Dataset(np.arange(8.0)[:, None], [0] * 8, schema))
    part, boxes = partition(crowd, 2, raw=False)
    ends = sorted(zip(boxes.low[:, 0].tolist(), boxes.high[:, 0].tolist(), strict=True))
    assert ends == [(0, 1), (2, 3), (4, 5), (6, 7)]
    assert np.bincount(part).tolist() == [2, 2, 2, 2]


def test_units_decide_only_if_widths_are_raw():
    """One rich person among the old stretches the range of incomes: half of the people use a share of it only."""
    schema = Schema((Column("age", role="quasi"), Column("income", role="quasi")))
    X = np.array([[20.0, 0], [30, 100], [40, 0], [50, 100], [60, 0], [70, 100], [80, 0], [90, 100000]])
    crowd = FrequencyTable.of(Dataset(X, [0] * 8, schema))
    part = {raw: partition(crowd, 2, raw)[0] for raw in (True, False)}
    low = crowd.cells[:, 0] < 4
    assert set(part[False][low]).isdisjoint(part[False][~low])  # cut at the ages of 60 and 40
    assert part[True][0] == part[True][2]  # 20 and 40 without an income stay together, 30 and 50 with one go


def test_categories_are_halved():
    schema = Schema((Column("city", "category", categories=tuple("abcd"), role="quasi"),))
    crowd = FrequencyTable.of(Dataset(np.repeat(np.arange(4.0), 3)[:, None], [0] * 12, schema))
    part, boxes = partition(crowd, 6, raw=False)
    assert part.tolist() in ([1, 1, 0, 0], [0, 0, 1, 1])
    assert sorted(boxes.allowed[:, 0].tolist()) == [[False, False, True, True], [True, True, False, False]]


@pytest.mark.parametrize("raw", [False, True])
def test_parts_hold_k_people_are_cut_as_far_as_possible_and_share_nobody(raw):
    train, _ = mixed(800, 3, ages=40)
    crowd = FrequencyTable.of(train)
    part, boxes = partition(crowd, 10, raw)
    held = np.bincount(part, crowd.count)
    assert held.min() >= 10
    assert held.sum() == len(train)
    assert held.max() < 60  # what is left uncut is dominated by single values
    assert (crowd.people(boxes) >= held).all()
    inside = crowd.covers(boxes)
    assert inside[part, np.arange(len(part))].all()


def test_a_dominant_lowest_value_is_still_cut_off():
    schema = Schema((Column("age", role="quasi"),))
    crowd = FrequencyTable.of(Dataset(np.array([[1.0]] * 6 + [[2.0], [3.0]]), [0] * 8, schema))
    assert partition(crowd, 2, raw=False)[0].tolist() in ([0, 1, 1], [1, 0, 0])
    assert partition(crowd, 2, False, "below")[0].tolist() == [0, 0, 0]  # nobody lies below the median


@dataclass(frozen=True)
class Everybody:
    """All people of a table, of whom some were trained on."""

    people: Dataset

    def load(self) -> Dataset:
        return self.people


def test_another_table_is_cut_and_its_people_are_counted():
    """0 to 7 in classes of two, of whom the even numbers were trained on."""
    schema = Schema((Column("age", role="quasi"), Column("income")), favourable=1)
    people = Dataset(np.stack([np.arange(8.0), np.arange(8.0)], axis=1), [0, 1] * 4, schema)
    train = people.rows(np.arange(0, 8, 2))
    model = Rule(lambda Z: Z[:, 1] > 3)
    ready = Mondrian(k=2, table=Everybody(people)).prepare(model, schema, train, np.random.default_rng(0))
    out = ready.explain(np.array([[3.0, 3.0]]), np.random.default_rng(0))
    assert (out.regions.low[0, 0], out.regions.high[0, 0]) == (4.0, 5.0)  # the class of 4, the nearest who is accepted
    assert out.found.all()
    assert matching(out.regions, train).tolist() == [1]


def test_a_table_with_other_columns_is_refused():
    train, model = mixed(40, 0)
    other = Dataset(np.arange(8.0)[:, None], [0, 1] * 4, Schema((Column("age", role="quasi"),)))
    with pytest.raises(JaliError, match="must have the columns of the training rows"):
        Mondrian(k=2, table=Everybody(other)).prepare(model, train.schema, train, np.random.default_rng(0))


def test_answers_are_the_classes_of_the_rows_shown():
    train, model = mixed(400, 0, ages=30)
    X = mixed(200, 9, ages=30)[0].X
    part = Mondrian(k=12)
    out = explained(part, model, X, train.schema, train, np.random.default_rng(0))
    assert out.found.any()
    assert matching(out.regions.pick(out.found), train).min() >= 12
    assert out.regions.covers(train.X, np.array([0, 2, 3, 4]))[out.found, out.origin[out.found]].all()
    np.testing.assert_array_equal(out.rows[~out.found], X[~out.found])
    assert registry.build("explain", registry.spec(part, every=True)) == part


def test_a_table_is_cut_once_for_all_who_ask(monkeypatch):
    train, model = mixed(400, 0, ages=30)
    X, cuts = mixed(200, 9, ages=30)[0].X, []
    monkeypatch.setattr(mondrian, "partition", lambda *told: cuts.append(told[1:]) or partition(*told))
    for part in (Mondrian(k=12), Mondrian(k=5), Mondrian(k=12, widths="raw")):
        ready = part.prepare(model, train.schema, train, np.random.default_rng(0))
        for tile in np.split(X, 4):
            ready.explain(tile, np.random.default_rng(0))
    assert cuts == [(12, False, "either"), (5, False, "either"), (12, True, "either")]


def test_bad_input_is_one_sentence():
    train, model = mixed(20, 0)
    with pytest.raises(
        JaliError, match="mondrian shows training rows that the model predicts as '1', and there are none"
    ):
        explained(Mondrian(), Rule(lambda Z: Z[:, 0] < 0), train.X, train.schema, train, np.random.default_rng(0))
    with pytest.raises(JaliError, match="k must be at least 2"):
        Mondrian(k=1)
    with pytest.raises(JaliError, match="more than the 20 people"):
        explained(Mondrian(k=21), model, train.X, train.schema, train, np.random.default_rng(0))
    with pytest.raises(JaliError, match="pass them as train"):
        explained(Mondrian(), model, train.X, train.schema, None, np.random.default_rng(0))
