"""Nothing of the rows but their number."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from jali.core import registry
from jali.core.errors import JaliError
from jali.knowledge.random import Random

from .tables import SCHEMA, assert_legal, table


def test_values_are_uniform_between_bounds_or_three_spreads():
    known = Random().know(table(), np.random.default_rng(1))
    assert_legal(known)
    np.testing.assert_allclose(np.bincount(known.X[:, 1].astype(int)) / 4000, [1 / 3] * 3, atol=0.03)
    assert known.X[:, 0].mean() == pytest.approx(54, abs=1.5)
    assert set(np.unique(known.X[:, 0])) == set(range(18, 91))
    assert known.X[:, 2].max() == pytest.approx(5 + 3 * 2, abs=0.05)  # bounded below only
    assert known.X[:, 2].min() == pytest.approx(0, abs=0.05)
    assert not known.y.any()


def test_normal_values_have_the_public_centre_and_spread_and_stay_legal():
    known = Random(values="normal").know(table(), np.random.default_rng(1))
    assert_legal(known)
    column = SCHEMA.columns[2]  # bounded below only
    assert np.median(known.X[:, 2]) == pytest.approx(column.centre, abs=0.1)
    above = known.X[:, 2] > column.centre + column.spread
    assert above.mean() == pytest.approx(0.1587, abs=0.02)  # of a normal distribution
    assert known.X[:, 2].min() == column.low
    np.testing.assert_allclose(np.bincount(known.X[:, 1].astype(int)) / 4000, [1 / 3] * 3, atol=0.03)
    assert not known.y.any()


def test_other_ways_to_draw_are_refused():
    with pytest.raises(JaliError, match="uniform or normal"):
        Random(values="beta")  # type: ignore[arg-type]


def test_the_rows_themselves_are_not_read():
    rows = table(100)
    other = dataclasses.replace(rows, X=np.tile([20.0, 1, 3, 0], (100, 1)))
    for way in (Random(), Random(values="normal")):
        first, again = (way.know(r, np.random.default_rng(3)).X for r in (rows, other))
        np.testing.assert_array_equal(first, again)


def test_all_kinds_of_knowledge_have_names():
    for name in ("noise", "statistical", "random"):
        part = registry.build("knowledge", name)
        assert registry.spec(part) == name
        assert part.whose == "others"
        assert part.know(table(10), np.random.default_rng(0)).schema == SCHEMA
