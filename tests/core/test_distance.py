from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from jali.core import distance
from jali.core.distance import distances, nearest, paired, ranges
from jali.core.errors import JaliError
from jali.core.values import Column, Schema

SCHEMA = Schema(
    (
        Column("age", "integer", 18, 98),
        Column("job", "category", categories=("a", "b", "c")),
        Column("income"),
        Column("sex", "category", categories=("f", "m")),
        Column("flat", low=3, high=3),
    )
)


def table(n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, n), rng.integers(0, 2, n)
    columns = rng.integers(18, 40, n), codes[0], rng.integers(0, 4, n) * 2.5, codes[1], rng.integers(2, 4, n)
    return np.stack(columns, axis=1).astype(float)


def loop(x, r, spans) -> float:
    """One distance, by the definition."""
    total = 0.0
    for column, a, b, span in zip(SCHEMA.columns, x, r, spans, strict=True):
        by_code = column.kind == "category" or span == 0
        total += float(a != b) if by_code else abs(a - b) / span
    return total


@pytest.fixture(params=[None, (7, 50)], ids=["whole", "in tiles"])
def tiles(request, monkeypatch):
    """The same in one piece and in pieces that divide nothing evenly."""
    if request.param:
        monkeypatch.setattr(distance, "TILE", request.param[0])
        monkeypatch.setattr(distance, "HELD", request.param[1])


def test_by_hand():
    spans = np.array([80.0, 1, 10, 1, 0])
    x, r = np.array([[20.0, 0, 1, 1, 3]]), np.array([[60.0, 2, 3.5, 1, 2]])
    assert distances(x, r, SCHEMA, spans)[0, 0] == 0.5 + 0.25 + 2  # age, income; job and the column without a span


@pytest.mark.usefixtures("tiles")
def test_every_pair_against_the_definition():
    X, rows = table(9, 0), table(23, 1)
    for source in ("schema", "train"):
        spans = ranges(SCHEMA, rows, source)
        expected = [[loop(x, r, spans) for r in rows] for x in X]
        np.testing.assert_allclose(distances(X, rows, SCHEMA, spans), expected, rtol=1e-14)
        np.testing.assert_allclose(paired(X, rows[:9], SCHEMA, spans), np.diag(np.array(expected)[:, :9]), rtol=1e-14)


def test_numbers_alone_are_a_scaled_city_block():
    rng = np.random.default_rng(0)
    schema, X, rows = Schema(tuple(Column(f"x{j}") for j in range(12))), rng.normal(size=(40, 12)), rng.random((60, 12))
    spans = ranges(schema, rows)
    np.testing.assert_allclose(distances(X, rows, schema, spans), cdist(X / spans, rows / spans, "cityblock"))


@pytest.mark.usefixtures("tiles")
@pytest.mark.parametrize("k", [1, 2, 5, 60])
def test_neighbours_against_a_full_stable_sort(k):
    X, rows = table(30, 2), table(60, 3)
    spans = ranges(SCHEMA, rows)
    far = distances(X, rows, SCHEMA, spans)
    assert len(np.unique(far)) < far.size / 5  # ties are the rule here
    index, value = nearest(X, rows, SCHEMA, spans, k)
    np.testing.assert_array_equal(index, far.argsort(axis=1, kind="stable")[:, :k])
    np.testing.assert_array_equal(value, np.sort(far, axis=1)[:, :k])


@pytest.mark.usefixtures("tiles")
@pytest.mark.parametrize("each", [False, True])
def test_only_allowed_rows_are_neighbours(each):
    X, rows, rng = table(20, 4), table(40, 5), np.random.default_rng(0)
    allowed = rng.random((20, 40) if each else 40) < 0.15
    spans = ranges(SCHEMA, rows)
    index, value = nearest(X, rows, SCHEMA, spans, 8, allowed)
    far = np.where(allowed, distances(X, rows, SCHEMA, spans), np.inf)
    np.testing.assert_array_equal(value, np.sort(far, axis=1)[:, :8])
    expected = np.where(np.isinf(value), -1, far.argsort(axis=1, kind="stable")[:, :8])
    np.testing.assert_array_equal(index, expected)
    assert (index == -1).any()


def test_more_neighbours_than_rows_and_no_rows_at_all():
    X, rows, spans = table(3, 0), table(2, 1), np.ones(5)
    index, value = nearest(X, rows, SCHEMA, spans, 4)
    assert (index[:, 2:] == -1).all()
    assert np.isinf(value[:, 2:]).all()
    assert np.isfinite(value[:, :2]).all()
    for some, others in ((X, rows[:0]), (X[:0], rows)):
        assert nearest(some, others, SCHEMA, spans, 2)[0].tolist() == [[-1, -1]] * len(some)
        assert distances(some, others, SCHEMA, spans).shape == (len(some), len(others))


def test_where_spans_come_from():
    rows = np.array([[20.0, 0, 1, 0, 3], [60.0, 2, 9, 1, 3]])
    assert ranges(SCHEMA, rows).tolist() == [80, 1, 8, 1, 0]
    assert ranges(SCHEMA, rows, "train").tolist() == [40, 1, 8, 1, 0]
    with pytest.raises(JaliError, match="there are none"):
        ranges(SCHEMA, rows[:0])


def test_bad_rows_are_named():
    X, spans = table(2, 0), np.ones(5)
    X[1, 2] = np.nan
    for left, right in ((X, table(2, 1)), (table(2, 1), X)):
        with pytest.raises(JaliError, match="'income' holds a missing"):
            nearest(left, right, SCHEMA, spans, 1)
    with pytest.raises(JaliError, match="Rows of 5 columns"):
        distances(X[:, :3], X[:, :3], SCHEMA, spans)
