"""A user's own table and a user's own pairs."""

from __future__ import annotations

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema
from jali.report import verification
from jali.verify.mechanisms_under_test import subject
from jali.verify.own_pairs import chosen_pairs, table_pairs
from jali.verify.run import verify

SCHEMA = Schema((Column("age", low=0, high=9), Column("region", "category", categories=("a", "b", "c"))))
TABLE = Dataset(np.array([[1.0, 0], [2, 0], [2, 0], [9, 1], [4, 1], [3, 2]]), [0, 0, 0, 0, 1, 1], SCHEMA)


def release(data, query, rng):
    return data.X[:, 0].sum() + rng.laplace(0, 9)


def replaced(value):
    X = TABLE.X.copy()
    X[0, 0] = value
    return Dataset(X, TABLE.y, SCHEMA)


def good():
    return [(TABLE, replaced(9.0), TABLE.X[0])]


def two_records():
    X = TABLE.X.copy()
    X[:2, 0] = 8
    return [(TABLE, Dataset(X, TABLE.y, SCHEMA), TABLE.X[0])]


def removed():
    return [(TABLE, TABLE.rows(np.arange(5)), TABLE.X[5])]


def no_pair():
    return [TABLE]


def short_query():
    return [(TABLE, replaced(9.0), [1.0])]


def failing():
    raise OSError("no disk")


def own(**claim):
    return subject(f"{__name__}:release", 1.0, **claim)


def asked(function, **claim):
    return chosen_pairs(own(**claim), "", "", f"{__name__}:{function.__name__}", 0)


def test_ones_own_pairs_are_the_only_ones():
    found = verify(own(), asked(good), draws=200)
    assert found.pairs == 1
    assert f"pair 0 of {__name__}:good (6 rows of 2 columns)" in found.distinguisher


def test_a_removed_record_is_allowed_under_add_remove():
    (pair,) = asked(removed, adjacency="add-remove")
    assert pair.removed
    with pytest.raises(JaliError, match="must differ in one replaced record; there are 6 and 5 rows"):
        asked(removed)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (two_records, "2 records differ"),
        (no_pair, r"must be \(first, second, query\)"),
        (short_query, "must be one row of 2 values"),
        (failing, "raised OSError: no disk"),
    ],
)
def test_what_is_no_pair_is_refused(function, words):
    with pytest.raises(JaliError, match=words):
        asked(function)


def test_a_table_gives_pairs_of_its_own_people():
    names = {pair.name for pair in table_pairs(TABLE, None, "add-remove", 0)}
    for who in ("ordinary person", "unusual person", "the rarest class", "the rarest region", "has a double"):
        for what in ("gets another label", "leaves"):
            assert any(who in name and what in name for name in names)
    assert not any(pair.removed for pair in table_pairs(TABLE, None, "replace-one", 0))


WITH_GAPS = Dataset(
    np.array([[1.0, 0], [2, 0], [np.nan, 0], [9, 1], [4, 1], [3, 2]]),
    [0, 0, 0, 0, 1, 1],
    Schema((Column("age", low=0, high=9, missing=True), SCHEMA.columns[1])),
)


def loses_a_value():
    X = WITH_GAPS.X.copy()
    X[0, 0] = np.nan
    return [(WITH_GAPS, Dataset(X, WITH_GAPS.y, WITH_GAPS.schema), WITH_GAPS.X[0])]


def test_missing_values_do_not_hide_who_is_unusual_or_which_record_differs():
    found = {pair.name: pair for pair in table_pairs(WITH_GAPS, None, "replace-one", 0)}
    assert found["the most unusual person gets another label, query at the record"].changed == 3
    lowest = found["the most ordinary person takes the lowest values, query at the record"]
    assert lowest.second.data.X[lowest.changed].tolist() == [1.0, 0.0]
    gap = found["the one with most missing values takes the highest values, query at the record"]
    assert gap.changed == 2
    assert np.isnan(gap.query[0, 0])
    assert "the one with most missing values loses values, query at the record" not in found
    (pair,) = asked(loses_a_value)
    assert pair.changed == 0


def number_of_gaps(data, query, rng):
    return [float(np.isnan(data.X).sum()), rng.laplace()]


def test_a_leak_of_missing_values_is_found_in_a_table_that_has_some():
    leaks = subject(f"{__name__}:number_of_gaps", 1.0)
    found = verify(leaks, table_pairs(WITH_GAPS, None, "replace-one", 0), draws=200)
    assert found.verdict == "REFUTED"
    assert found.tables == "6 rows, 2 columns and 2 classes, some with missing values"
    unseen = verify(leaks, draws=100)
    assert unseen.verdict == "NOT TESTABLE"
    assert unseen.tables.endswith("none with missing values")
    assert unseen.tables in verification.text(unseen)


def test_a_file_is_read_with_its_target(tmp_path):
    file = tmp_path / "people.csv"
    rows = "".join(
        f"{age},{region},{'yes' if age > 4 else 'no'}\n" for age, region in zip(range(12), "abc" * 4, strict=True)
    )
    file.write_text(f"age,region,granted\n{rows}")
    found = chosen_pairs(own(), str(file), "granted", "", 0)
    assert found
    assert found[0].first.data.schema.columns[1].categories == ("a", "b", "c")
    with pytest.raises(JaliError, match="needs a target"):
        chosen_pairs(own(), str(file), "", "", 0)


def test_options_that_do_not_go_together_are_refused():
    with pytest.raises(JaliError, match="either --data or --pairs"):
        chosen_pairs(own(), "x.csv", "", "m:f", 0)
    with pytest.raises(JaliError, match="--target names a column of --data"):
        chosen_pairs(own(), "", "y", "", 0)
    assert chosen_pairs(own(), "", "", "", 0) is None
