"""Tables that mean the same thing in different ways are compared value by value."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from jali.core.errors import JaliError
from jali.data.tables.aligned import aligned


def test_kinds_are_settled_together():
    left = pd.DataFrame({"age": [30, 41], "code": ["1", "2"], "ok": [True, False], "x": [0.5, 1.0]})
    right = pd.DataFrame({"x": [1.0000001], "age": [30.0], "code": [2], "ok": ["True"], "extra": [9]})
    both = aligned({"left": left, "right": right})
    assert [c.kind for c in both.schema.columns] == ["integer", "integer", "category", "number"]
    assert both.notes == ("Columns that not all tables have are not compared: extra.",)
    assert (both.codes("left")[0] == both.codes("right")[0]).tolist() == [True, False, True, False]
    assert (both.codes("left")[1] == both.codes("right")[0]).tolist() == [False, True, False, True]


def test_gaps_are_left_out_and_counted_and_identifiers_named():
    names = [f"person {i}" for i in range(300)]
    left = pd.DataFrame({"age": np.arange(300.0), "name": names})
    left.loc[3, "age"] = np.nan
    both = aligned({"left": left, "right": left.head(2)})
    assert len(both.rows["left"]) == 299
    assert 3 not in both.at["left"]
    assert both.notes == (
        "Column 'name' is different in most rows, so it is an identifier and not compared.",
        "1 of 300 rows of the left table have gaps and are left out.",
    )


def test_a_missing_text_is_a_value_of_its_own():
    both = aligned({"left": pd.DataFrame({"a": ["x", None]}), "right": pd.DataFrame({"a": [None, "x"]})})
    assert (both.codes("left") == both.codes("right")[::-1]).all()


def test_whole_numbers_that_floats_cannot_hold_stay_different():
    left = pd.DataFrame({"id": [2**53, 2**53 + 1], "age": [30, 41]})
    both = aligned({"left": left, "right": left})
    assert both.schema.columns[0].kind == "category"
    assert (both.codes("left")[:, 0][:, None] == both.codes("right")[:, 0]).tolist() == [[True, False], [False, True]]


def test_numbers_beyond_all_units_are_one_sentence_and_whole_ones_beyond_all_floats_are_texts():
    huge = pd.DataFrame({"x": [1e308, -1e308, 1e308]})
    with pytest.raises(JaliError, match="too large to scale"):
        aligned({"left": huge, "right": huge})
    large = pd.DataFrame({"x": [1e100, 2e100, 3e100]})  # whole, but not in 64 bits
    assert len(np.unique(aligned({"left": large, "right": large}).codes("left"))) == 3
    digits = pd.DataFrame({"x": [10**400, 2]}, dtype=object)  # as pandas reads them
    assert aligned({"left": digits, "right": digits}).schema.columns[0].kind == "category"


def test_truth_values_are_the_same_in_any_spelling():
    ways = {"left": [True, False], "middle": [1, 0], "right": ["yes", "No"]}
    both = aligned({of: pd.DataFrame({"ok": values}) for of, values in ways.items()})
    assert both.schema.columns[0].categories == ("False", "True")
    assert [both.rows[of][:, 0].tolist() for of in ways] == [[1, 0], [1, 0], [1, 0]]
    codes = pd.DataFrame({"ok": ["y", "yes", "n"]})  # three codes, not two truth values
    assert aligned({"left": codes, "right": codes}).schema.columns[0].categories == ("n", "y", "yes")


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (["cook", "nurse"] * 3, ["COOK", "NURSE"] * 3),
        (["cook"] * 5 + [None], [None] + ["COOK"] * 5),  # what both lack is no value in common
        ([12_000, 30_000] * 3, [12.0, 30.0] * 3),  # another unit
    ],
)
def test_a_column_that_is_written_in_another_way_hides_no_equal_rows(mine, theirs):
    left = pd.DataFrame({"age": range(6), "job": mine})
    right = pd.DataFrame({"age": range(6), "job": theirs})
    both = aligned({"left": left, "right": right}, alike=True)
    assert [c.name for c in both.schema.columns] == ["age"]
    assert "Column 'job' of the left table and that of the right table have no value in common" in both.notes[0]
    assert len(aligned({"left": left, "right": right}).schema.columns) == 2  # answers may differ from all queries
    few = aligned({"left": left, "right": right.head(3)}, alike=True)
    assert len(few.schema.columns) == 2  # three people may differ by chance
