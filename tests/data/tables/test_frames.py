import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from jali.core.errors import JaliError
from jali.data.tables import frames

ODD = ["<b>&amp;</b>", 'quo"te', "line\nbreak", "naïve ☃", "a,b", " spaced "]


def mixed(n=6):
    return pd.DataFrame(
        {
            "count": np.arange(n),
            "share": np.linspace(0, 1, n),
            "whole": np.arange(n, dtype=float),
            "word": (["b", "a", "c"] * n)[:n],
            "flag": ([True, False] * n)[:n],
            "kind": pd.Categorical((["y", "x"] * n)[:n]),
            "outcome": ([0, 1] * n)[:n],
        }
    )


def test_kinds_and_categories():
    columns = {c.name: c for c in frames.dataset(mixed(), "outcome").schema.columns}
    assert {name: c.kind for name, c in columns.items()} == {
        "count": "integer",
        "share": "number",
        "whole": "number",
        "word": "category",
        "flag": "category",
        "kind": "category",
    }
    assert columns["word"].categories == ("a", "b", "c")
    assert columns["flag"].categories == ("False", "True")
    assert columns["kind"].categories == ("x", "y")
    # 0, 1, …, 5: mean 5/2, variance 35/12.
    assert (columns["count"].low, columns["count"].high, columns["count"].centre) == (0, 5, 2.5)
    assert columns["count"].spread == pytest.approx((35 / 12) ** 0.5)


def test_declarations():
    table = mixed()
    data = frames.dataset(
        table,
        "outcome",
        favourable="1",
        quasi=["word"],
        immutable=["flag"],
        categories=["count"],
        integers=["whole"],
        sensitive="flag",
        groups="kind",
        bounds={"share": (-1.0, 2.0)},
    )
    columns = {c.name: c for c in data.schema.columns}
    assert columns["count"].categories == ("0", "1", "2", "3", "4", "5")
    assert columns["whole"].kind == "integer"
    assert (columns["share"].low, columns["share"].high) == (-1, 2)
    assert (columns["word"].role, columns["flag"].role) == ("quasi", "private")
    assert (columns["word"].mutable, columns["flag"].mutable) == (True, False)
    assert (data.schema.favourable, data.schema.sensitive, data.schema.target) == (1, "flag", "outcome")
    assert "kind" not in columns
    assert data.groups.tolist() == [1, 0, 1, 0, 1, 0]


def test_frame_gives_back_the_table():
    table = mixed().drop(columns="kind")
    data = frames.dataset(table, "outcome")
    assert_frame_equal(frames.frame(data.X, data.schema), table.drop(columns="outcome"))


def test_frame_of_no_rows():
    data = frames.dataset(mixed(), "outcome")
    assert frames.frame(data.X[:0], data.schema).shape == (0, 6)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.text(min_size=1), st.integers(-(2**40), 2**40), st.booleans()), min_size=2, max_size=12))
def test_any_text_goes_in_and_out(rows):
    table = pd.DataFrame(rows, columns=["text", "number", "y"])
    table.loc[:, "y"] = np.arange(len(table)) % 2 == 0
    text = table["text"].tolist()
    assume(not {"True", "False"}.issuperset(text))  # such a column comes back as truth values, by design
    data = frames.dataset(table, "y", categories=["text"])
    assert frames.frame(data.X, data.schema)["text"].tolist() == text
    assert data.schema.columns[0].categories == tuple(sorted(set(text)))


def test_odd_names_stay_verbatim():
    table = pd.DataFrame(dict.fromkeys(ODD, ODD) | {"y": [0, 1] * 3})
    data = frames.dataset(table, "y")
    assert [c.name for c in data.schema.columns] == ODD
    assert set(data.schema.columns[0].categories) == set(ODD)
    assert_frame_equal(frames.frame(data.X, data.schema), table[ODD])


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        ([10, 9, 10, 9], ("9", "10")),
        ([0.0, 1.0, 1.0, 0.0], ("0", "1")),
        ([0.5, 1.5, 1.5, 0.5], ("0.5", "1.5")),
        ([True, False, True, False], ("False", "True")),
        (["no", "yes", "no", "yes"], ("no", "yes")),
        (pd.Categorical(["no", "yes", "no", "yes"], categories=["yes", "no", "never"]), ("no", "yes")),
        (pd.array([2, 1, 2, 1], dtype="Int64"), ("1", "2")),
        (pd.array([True, False, True, False], dtype="boolean"), ("False", "True")),
        (pd.array(["b", "a", "b", "a"], dtype="string"), ("a", "b")),
    ],
)
def test_classes(values, classes):
    data = frames.dataset(pd.DataFrame({"x": [1, 2, 3, 4], "y": values}), "y")
    assert data.schema.classes == classes
    want = [str(int(v)) if isinstance(v, float) and v.is_integer() else str(v) for v in values]
    assert [data.schema.classes[c] for c in data.y] == want


def test_nullable_columns_without_gaps():
    table = pd.DataFrame({"i": pd.array([1, 2], dtype="Int64"), "f": pd.array([0.5, 2], dtype="Float64"), "y": [0, 1]})
    data = frames.dataset(table, "y")
    assert [c.kind for c in data.schema.columns] == ["integer", "number"]
    assert data.X.tolist() == [[1, 0.5], [2, 2]]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([1.0, np.nan, 3.0, np.nan], "'x' holds 2 missing or infinite"),
        ([1.0, np.inf, 3.0, 4.0], "'x' holds 1 missing or infinite"),
        (["a", None, "b", "c"], "'x' holds 1 missing"),
        (pd.array([1, None, 2, 3], dtype="Int64"), "'x' holds 1 missing"),
        (pd.array([0.5, None, 2, np.inf], dtype="Float64"), "'x' holds 2 missing"),
        (pd.to_datetime(["2020-01-01"] * 4), "'x' has type datetime64"),
        ([1j, 2j, 3j, 4j], "'x' has type complex128"),
        ([1e300, -1e300, 1e300, 0.0], "'x' has numbers that are too large"),
    ],
)
def test_columns_that_cannot_be_used(column, message):
    with pytest.raises(JaliError, match=message):
        frames.dataset(pd.DataFrame({"x": column, "y": [0, 1, 0, 1]}), "y")


def test_identifiers_are_named():
    table = pd.DataFrame({"id": [f"p{i}" for i in range(201)], "y": np.arange(201) % 2})
    with pytest.raises(JaliError, match="'id' holds 201 different texts, more than 200: drop it"):
        frames.dataset(table, "y")
    assert len(frames.dataset(table[:200], "y").schema.columns[0].categories) == 200


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (["a"] * 60, "one class only"),
        (np.linspace(0, 1, 60), "60 different values, but a class .* at most 50"),
        ([None, "a", "b"] * 20, "'y' holds 20 missing"),
    ],
)
def test_targets_that_cannot_be_used(target, message):
    with pytest.raises(JaliError, match=message):
        frames.dataset(pd.DataFrame({"x": np.arange(60), "y": target}), "y")


def test_favourable_class_must_exist():
    with pytest.raises(JaliError, match="'good' is none of the 2 classes of 'y': write it"):
        frames.dataset(pd.DataFrame({"x": [1, 2], "y": [0, 1]}), "y", favourable="good")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", "a", "y"], "'a' occurs more than once"),
        (["", "b", "y"], "Column 1 has no name"),
        ([0, "b", "y"], "no name"),
    ],
)
def test_bad_names(names, message):
    with pytest.raises(JaliError, match=message):
        frames.dataset(pd.DataFrame([[1, 2, 0], [3, 4, 1]], columns=names), "y")


def test_nothing_to_learn_from():
    with pytest.raises(JaliError, match="at least one column beside 'y'"):
        frames.dataset(pd.DataFrame({"y": [0, 1]}), "y")
    with pytest.raises(JaliError, match="needs rows"):
        frames.dataset(pd.DataFrame({"x": [], "y": []}), "y")


def test_constant_columns_have_spread_one():
    columns = frames.dataset(pd.DataFrame({"a": [0.1] * 3, "b": ["k"] * 3, "y": [0, 1, 0]}), "y").schema.columns
    assert columns[0].spread == 1.0
    assert columns[1].categories == ("k",)


def test_the_table_given_is_left_alone():
    table, before = mixed(), mixed()
    frames.dataset(table, "outcome")
    assert_frame_equal(table, before)
