from dataclasses import replace

import numpy as np
import pytest

from jali.core import registry
from jali.core.encoding import Encoding
from jali.data.continuous import Continuous
from jali.data.german import German
from jali.data.lending import Lending
from jali.data.tables import files


def test_integers_become_numbers_and_nothing_is_immutable():
    before, after = Lending(n=200).load(), Continuous(Lending(n=200)).load()
    kinds = {"integer": "number", "number": "number", "category": "category"}
    assert {c.kind for c in before.schema.columns} >= {"integer", "category"}
    assert not all(c.mutable for c in before.schema.columns)
    for old, new in zip(before.schema.columns, after.schema.columns, strict=True):
        assert new == replace(old, kind=kinds[old.kind], mutable=True)


def test_rows_outcomes_and_model_space_stay_as_they_are():
    before, after = Lending(n=200).load(), Continuous(Lending(n=200)).load()
    np.testing.assert_array_equal(after.X, before.X)
    np.testing.assert_array_equal(after.y, before.y)
    assert replace(after.schema, columns=before.schema.columns) == before.schema
    Z = Encoding(after.schema).encode(after.X)
    np.testing.assert_array_equal(Z, Encoding(before.schema).encode(before.X))
    assert Encoding(after.schema).movable().sum() > Encoding(before.schema).movable().sum()


def test_a_row_between_whole_numbers_is_legal():
    schema = Continuous(Lending(n=200)).load().schema
    j = next(j for j, c in enumerate(Lending(n=200).load().schema.columns) if c.kind == "integer")
    column, encoding = schema.columns[j], Encoding(schema)
    x = Lending(n=200).load().X[:1].copy()
    x[0, j] = np.floor((column.low + column.high) / 2) + 0.25
    np.testing.assert_allclose(encoding.decode(encoding.encode(x)), x, rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "full"),
    [
        ("continuous(german())", "continuous(source=german)"),
        ("continuous(sample(adult, 15000))", "continuous(source=sample(source=adult, n=15000))"),
        ("sample(continuous(heloc), n=90)", "sample(source=continuous(source=heloc), n=90)"),
    ],
)
def test_specification_comes_back(text, full):
    source = registry.build("data", text)
    assert registry.spec(source) == full
    assert registry.build("data", registry.spec(source, every=True)) == source
    assert registry.key(source) == registry.key(registry.build("data", full))


def test_keys_follow_the_data_set_inside():
    texts = ["continuous(lending)", "continuous(lending(n=9))", "lending", "continuous(german)"]
    assert len({registry.key(registry.build("data", text)) for text in texts}) == len(texts)


def test_origin_licence_and_files_are_those_of_the_table():
    source = Continuous(German())
    assert source.origin.startswith(German.origin)
    assert (source.licence, source.files) == (German.licence, German.files)
    assert files.present(Continuous(Lending()))


def test_groups_are_carried_through(real):
    data = real("continuous(diabetes130)")
    assert len(np.unique(data.groups)) == 71_518
    assert {c.kind for c in data.schema.columns} == {"number", "category"}
