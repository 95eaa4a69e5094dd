"""Columns are left out, and what belonged to them with them."""

from __future__ import annotations

import pytest

from jali.core import registry
from jali.core.errors import JaliError
from jali.data.lending import Lending
from jali.data.without import Without


def test_the_rest_stays_as_it_is():
    whole = Lending(n=50).load()
    names = [c.name for c in whole.schema.columns]
    data = Without(Lending(n=50), (names[1], names[3])).load()
    assert [c.name for c in data.schema.columns] == [n for k, n in enumerate(names) if k not in (1, 3)]
    assert data.X[:, 1].tolist() == whole.X[:, 2].tolist()
    assert data.y.tolist() == whole.y.tolist()


def test_a_sensitive_column_that_is_left_out_is_no_longer_sensitive():
    whole = Lending(n=50).load()
    if whole.schema.sensitive is not None:
        assert Without(Lending(n=50), (whole.schema.sensitive,)).load().schema.sensitive is None


def test_an_unknown_column_is_named():
    with pytest.raises(JaliError, match="there is no column 'shoe size'"):
        Without(Lending(n=50), ("shoe size",)).load()


def test_specification_comes_back():
    part = registry.build("data", 'without(lending(n=50), columns=["age"])')
    assert registry.build("data", registry.spec(part)) == part
