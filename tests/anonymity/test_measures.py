from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from jali.anonymity.frequency_table import FrequencyTable
from jali.anonymity.measures import class_interval, matching, ncp, pureness
from jali.core.errors import JaliError
from jali.core.explanation import Regions
from jali.core.values import Column, Dataset, Schema
from tests.anonymity.tables import NAMES, PEOPLE, TOY, Rule, bank, mixed, toy


def fiona(low=24.0, high=27.0) -> Regions:
    """Fiona's row with her age widened."""
    row = PEOPLE[NAMES.index("Fiona")][None]
    plain = Regions.of(row, TOY)
    return Regions(np.r_[low, row[0, 1:]][None], np.r_[high, row[0, 1:]][None], plain.allowed, TOY)


def test_the_published_example():
    """24 to 27, F, Antwerp: Fiona, Gina and Ingrid; NCP (27 - 24) / (70 - 23) / 3; accepted at 24 and 25."""
    assert matching(fiona(), toy()).tolist() == [3]
    assert ncp(fiona(), toy())[0] == pytest.approx(3 / 47 / 3)
    assert ncp(fiona(), toy())[0] == pytest.approx(0.021, abs=5e-4)
    pure = pureness(bank(), fiona(), toy(), np.array([1]), np.random.default_rng(0))
    assert (pure.value[0], pure.low[0], pure.high[0]) == (0.5, 0.5, 0.5)


def test_weights_count_and_a_category_of_one_value_costs_nothing():
    both = Regions(fiona().low, fiona().high, fiona().allowed | np.eye(5, dtype=bool)[1][:, None], TOY)
    allowed = both.allowed.copy()
    allowed[0, 1, 2:] = False  # F or M
    wide = Regions(fiona().low, fiona().high, allowed, TOY)
    assert ncp(wide, toy(), (2.0, 1.0, 1.0))[0] == pytest.approx(0.5 * 3 / 47 + 0.25 * 2 / 2)
    assert ncp(fiona(), toy(), (1.0, 5.0, 5.0))[0] == pytest.approx(3 / 47 / 11)
    with pytest.raises(JaliError, match="one positive number for each of age, gender, city"):
        ncp(wide, toy(), (1.0, 1.0))
    with pytest.raises(JaliError, match=r"not \(1\.0, 0\.0, 1\.0\)"):
        FrequencyTable.of(toy(), (1.0, 0.0, 1.0))


def test_values_count_only_if_somebody_trained_on_has_them():
    """Between 50 and 70 there is nobody, so two ages are asked about, not 21."""
    row = np.array([[70.0, 1, 1, 90, 3]])
    plain = Regions.of(row, TOY)
    low = np.array([[50.0, 1, 1, 90, 3]])
    asked = []
    model = Rule(lambda X: asked.append(len(X)) or X[:, 0] > 60)
    pure = pureness(model, Regions(low, row, plain.allowed, TOY), toy(), np.array([1]), np.random.default_rng(0))
    assert asked == [2]
    assert pure.value[0] == 0.5


def test_drawn_pureness_has_an_interval_that_holds():
    train, _ = mixed(400, 0, ages=100)
    whole = Regions(
        np.array([[0.0, 0.5, 0, 0, 0]]), np.array([[99.0, 0.5, 3, 0, 0]]), np.ones((1, 5, 4), bool), train.schema
    )
    allowed = whole.allowed.copy()
    allowed[0, 4, 2:] = False
    whole = Regions(whole.low, whole.high, allowed, train.schema)
    model = Rule(lambda X: X[:, 0] < 25)
    ages = np.unique(train.X[:, 0])
    truth, held = (ages < 25).mean(), 0
    for seed in range(200):
        pure = pureness(model, whole, train, np.array([1]), np.random.default_rng(seed), most=100)
        held += pure.low[0] <= truth <= pure.high[0]
        hits = round(pure.value[0] * 100)
        assert pure.low[0] == pytest.approx(beta.ppf(0.025, hits, 101 - hits))
    assert held >= 185
    assert pureness(model, whole, train, np.array([1]), np.random.default_rng(0), most=10**5).value[0] == truth


def test_matching_counts_people_not_rows():
    schema = Schema((Column("age", role="quasi"), Column("income")))
    X = np.array([[20.0, 1], [21, 1], [21, 2], [30, 3]])
    some = Regions(np.array([[20.0, 1], [20, 1]]), np.array([[21.0, 1], [30, 1]]), np.zeros((2, 2, 0)), schema)
    assert matching(some, Dataset(X, [0] * 4, schema)).tolist() == [3, 4]
    assert matching(some, Dataset(X, [0] * 4, schema, [7, 7, 7, 8])).tolist() == [1, 2]
    crowd = FrequencyTable.of(Dataset(X, [0] * 4, schema, [7, 7, 7, 8]))
    assert crowd.count.tolist() == [1, 0, 1]


def test_two_counts_agree():
    """Boxes of codes and regions of raw values, counted apart."""
    train, _ = mixed(500, 4, ages=20)
    crowd, rng = FrequencyTable.of(train), np.random.default_rng(0)
    boxes = crowd.around(crowd.cells[rng.integers(0, len(crowd.cells), 50)])
    for _ in range(3):
        boxes.add(np.arange(50), crowd.cells[rng.integers(0, len(crowd.cells), 50)])
    regions = crowd.regions(boxes, train.X[rng.integers(0, 500, 50)])
    np.testing.assert_array_equal(crowd.people(boxes), matching(regions, train))
    np.testing.assert_allclose(crowd.ncp(boxes), ncp(regions, train), atol=1e-12)
    cut = crowd.hull(crowd.covers(boxes))
    np.testing.assert_array_equal(crowd.people(cut), crowd.people(boxes))
    assert (crowd.ncp(cut) <= crowd.ncp(boxes) + 1e-12).all()


@pytest.mark.parametrize("n", [1, 64, 700])
def test_cells_as_bits_are_the_cells_compared_one_by_one(n):
    """Up to 700 people in up to 300 cells, of which the last 64 bits are filled in part; some hold many people."""
    train, _ = mixed(n, 6, ages=10)
    crowd = FrequencyTable.of(Dataset(np.repeat(train.X, 3, axis=0), np.repeat(train.y, 3), train.schema))
    rng = np.random.default_rng(n)
    boxes = crowd.around(crowd.cells[rng.integers(0, len(crowd.cells), 40)])
    boxes.add(np.arange(40), crowd.cells[rng.integers(0, len(crowd.cells), 40)])
    for i in range(40):
        inside = []
        for cell in crowd.cells:
            ranged = [boxes.low[i, q] <= cell[q] <= boxes.high[i, q] for q in np.flatnonzero(crowd.ranged)]
            inside.append(all(ranged) and all(boxes.allowed[i, q, cell[q]] for q in np.flatnonzero(~crowd.ranged)))
        np.testing.assert_array_equal(crowd.covers(boxes)[i], inside)
        assert crowd.people(boxes)[i] == crowd.count[inside].sum()


def test_class_interval_shows_what_all_who_match_have():
    told = class_interval(fiona(), toy())
    assert (told.low[0, 3], told.high[0, 3]) == (60, 80)
    assert np.flatnonzero(told.allowed[0, 4]).tolist() == [1, 3]  # married, single
    assert (told.low[0, 0], told.high[0, 0]) == (24, 27)
    assert ncp(told, toy(), role="private")[0] == pytest.approx((20 / 70 + 2 / 5) / 2)
    assert ncp(fiona(), toy(), role="private")[0] == 0


def test_a_table_without_quasi_identifiers():
    with pytest.raises(JaliError, match="no column of this table is one"):
        FrequencyTable.of(Dataset(np.zeros((2, 1)), [0, 1], Schema((Column("age"),))))


def test_a_row_that_is_not_of_the_table():
    with pytest.raises(JaliError, match="quasi-identifier 'age' that no training row has"):
        FrequencyTable.of(toy()).coded(np.array([[22.0, 0, 0, 0, 0]]))
