"""What everything that an adversary may know must be: rows that fit the schema and say no more than they should."""

from __future__ import annotations

import dataclasses
from typing import get_args

import numpy as np
import pytest

from jali.core import registry
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.query import Whose
from jali.core.values import Column, Dataset, Schema

from .people import SCHEMA, people

PARTS = [registry.build("knowledge", name) for name in registry.names("knowledge")]
every = pytest.mark.parametrize("part", PARTS, ids=registry.names("knowledge"))
listings = pytest.mark.parametrize("part", [p for p in PARTS if p.whose != "others"], ids=registry.spec)
outsiders = pytest.mark.parametrize("part", [p for p in PARTS if p.whose == "others"], ids=registry.spec)


def known(part, rows: Dataset, seed: int = 0) -> Dataset:
    return part.know(rows, np.random.default_rng(seed))


def same(a: Dataset, b: Dataset) -> bool:
    return np.array_equal(a.X, b.X) and np.array_equal(a.y, b.y)


@every
def test_it_says_whose_rows_it_starts_from(part):
    assert part.whose in get_args(Whose)


@every
def test_rows_are_legal_frozen_and_of_the_same_schema(part):
    found = known(part, people(80))
    assert found.schema == SCHEMA
    assert not found.X.flags.writeable
    for j, column in enumerate(SCHEMA.columns):
        values = found.X[:, j]
        if column.kind == "category":
            assert set(values) <= set(range(len(column.categories)))
        else:
            assert column.low <= values.min() <= values.max() <= column.high
        if column.kind == "integer":
            np.testing.assert_array_equal(values, np.rint(values))
    assert np.isfinite(Encoding(SCHEMA).encode(found.X)).all()


@every
def test_the_same_stream_gives_the_same_bits(part):
    assert same(known(part, people(80)), known(part, people(80)))


@outsiders
def test_another_stream_gives_other_rows(part):
    assert not same(known(part, people(80), 1), known(part, people(80), 2))


@listings
def test_a_list_of_people_keeps_their_order_and_shows_quasi_identifiers_alone(part):
    """Two lists of the same quasi-identifiers are equal, whatever else is true of the people."""
    rows = people(80)
    private = [j for j, c in enumerate(SCHEMA.columns) if c.role == "private"]
    quasi = [j for j, c in enumerate(SCHEMA.columns) if c.role == "quasi"]
    X = rows.X.copy()
    X[:, private] = X[::-1, private]
    found = known(part, rows)
    np.testing.assert_array_equal(found.X[:, quasi], rows.X[:, quasi])
    assert same(found, known(part, dataclasses.replace(rows, X=X, y=1 - rows.y)))


@listings
def test_a_list_without_quasi_identifiers_is_refused(part):
    rows = Dataset(np.zeros((4, 1)), [0, 1, 0, 1], Schema((Column("income"),)))
    with pytest.raises(JaliError, match="quasi"):
        known(part, rows)


@every
def test_its_specification_rebuilds_it(part):
    assert registry.build("knowledge", registry.spec(part)) == part
    assert registry.build("knowledge", registry.spec(part, every=True)) == part
