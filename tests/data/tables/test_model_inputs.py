"""Rebuilt rows are those that decoding the whole table gives, to the bit, the dtype and the order in memory."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from jali.core.values import Schema
from jali.data.tables import model_inputs
from jali.data.tables.frames import Like, dataset, frame, restored
from jali.data.tables.model_inputs import Rebuilder

RNG = np.random.default_rng(0)
N = 90
LETTERS = pd.Series(RNG.choice(list("abc"), N))
CODES = pd.Series(RNG.integers(3, 6, N))
COLUMNS = {
    "float64": pd.Series(RNG.normal(size=N)),
    "float32": pd.Series(RNG.normal(size=N).astype(np.float32)),
    "int64": CODES * 1000,
    "int8": CODES.astype(np.int8),
    "nullable": CODES.astype("Int64"),
    "text": LETTERS,
    "object": LETTERS.astype(object),
    "category": LETTERS.astype("category"),
    "category of numbers": CODES.astype("category"),
    "category in order": pd.Series(pd.Categorical(LETTERS, ["c", "b", "a"], ordered=True)),
    "bool": CODES > 4,
    "nullable bool": (CODES > 4).astype("boolean"),
    "object of bool": (CODES > 4).astype(object),
}


def given(*names):
    """A table with these columns, its data set and its layout."""
    table = pd.DataFrame({name: COLUMNS[name] for name in names})
    return table, dataset(table.assign(y=np.arange(N) % 2), "y"), Like.of(table)


def same_memory(a, b):
    assert a.dtype == b.dtype
    assert a.flags.f_contiguous == b.flags.f_contiguous
    assert a.tobytes("A") == b.tobytes("A")


@pytest.mark.parametrize(
    "names",
    [*((name,) for name in COLUMNS), tuple(COLUMNS), ("float64", "int64"), ("int64", "int8"), ("float64", "text")],
    ids="+".join,
)
def test_a_table_is_rebuilt_as_by_decoding_it(names):
    table, data, like = given(*names)
    some = data.X[[5, 3, 3, 40]]
    for layout in (like, None):
        whole = frame(some, data.schema)
        pd.testing.assert_frame_equal(
            Rebuilder(data.schema, "frame", layout)(some),
            whole if layout is None else restored(whole, layout),
            check_column_type=True,
        )
    pd.testing.assert_frame_equal(Rebuilder(data.schema, "frame", like)(data.X), table)


@pytest.mark.parametrize("names", [("float64", "float32"), ("float64",) * 2, ("int64",), ("int8", "int64")])
def test_numbers_have_the_same_bytes_in_the_same_order(names):
    _, data, like = given(*dict.fromkeys(names))
    expected = restored(frame(data.X, data.schema), like)
    same_memory(Rebuilder(data.schema, "array", like)(data.X), expected.to_numpy())
    same_memory(Rebuilder(data.schema, "frame", like)(data.X).to_numpy(), expected.to_numpy())


def test_arrays_of_integers_as_floats_are_rounded_without_a_negative_zero():
    table = pd.DataFrame({"a": [0.0, 2.0, 1.0], "b": [0.5, 1.5, -0.5]})
    data = dataset(table.assign(y=[0, 1, 0]), "y", integers=["a"])
    like = Like.of(table)
    moved = data.X + np.array([-0.2, 0.1])
    same_memory(Rebuilder(data.schema, "array", like)(moved), restored(frame(moved, data.schema), like).to_numpy())


def test_an_array_of_objects_keeps_its_values():
    table = pd.DataFrame({"a": pd.Series([3, 1, 2], dtype=object), "b": pd.Series(["x", "y", "x"], dtype=object)})
    data = dataset(table.assign(y=[0, 1, 0]), "y")
    assert Rebuilder(data.schema, "array", Like.of(table))(data.X).tolist() == table.to_numpy().tolist()


def test_the_type_of_a_value_does_not_depend_on_the_other_rows():
    table = pd.DataFrame({"mixed": pd.Series([1, 2.5, "x", 1], dtype=object)})
    data = dataset(table.assign(y=[0, 1, 0, 1]), "y")
    feed = Rebuilder(data.schema, "frame", Like.of(table))
    assert [type(value) for value in feed(data.X[[0, 1]])["mixed"]] == [int, float]
    assert [type(value) for value in restored(frame(data.X[[0, 1]], data.schema), Like.of(table))["mixed"]] == [
        int,
        float,
    ]


def test_a_category_that_nobody_has_need_not_be_a_value_of_the_dtype():
    _, data, like = given("int64")
    column = replace(data.schema.columns[0], kind="category", low=0, high=2, categories=("3000", "4000", "none"))
    feed = Rebuilder(Schema((column,)), "frame", like)
    assert feed(np.array([[1.0], [0.0]]))["int64"].tolist() == [4000, 3000]
    with pytest.raises(ValueError, match="none"):
        feed(np.array([[2.0]]))


def test_the_rows_are_not_changed_through_what_was_made_of_them():
    _, data, like = given("float64", "int64")
    assert not np.shares_memory(Rebuilder(data.schema, "array", like)(data.X), data.X)
    table = Rebuilder(data.schema, "frame", like)(data.X)
    assert not any(np.shares_memory(table[name].to_numpy(), data.X) for name in table)


def test_categories_are_converted_once(monkeypatch):
    calls = []
    monkeypatch.setattr(model_inputs, "restored", lambda table, like: calls.append(len(table)) or restored(table, like))
    _, data, like = given("text", "category of numbers", "float64")
    feed = Rebuilder(data.schema, "frame", like)
    for _ in range(5):
        feed(data.X)
    assert calls == [3, 3]


def test_it_can_be_sent_to_a_worker():
    table, data, like = given(*COLUMNS)
    feed = pickle.loads(pickle.dumps(Rebuilder(data.schema, "frame", like)))
    pd.testing.assert_frame_equal(feed(data.X), table)
