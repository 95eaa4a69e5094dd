from __future__ import annotations

import numpy as np
import pytest

from jali.core.encoding import Encoding
from jali.core.values import Column, Schema
from jali.explain._recourse.sampling import Freedom

MIXED = Schema(
    (
        Column("age", "integer", 18, 90, 45, 15, mutable=False),
        Column("income", "number", 0, 200, 50, 25),
        Column("lines", "integer", 0, 12, 4, 3),
        Column("job", "category", categories=("a", "b", "c")),
        Column("sex", "category", categories=("f", "m"), mutable=False),
        Column("town", "category", categories=("x", "y")),
        Column("only", "category", categories=("one",)),
    )
)
CENTRE = np.array([[30.0, 50.0, 4.0, 1.0, 0.0, 1.0, 0.0], [60.0, 199.0, 0.0, 2.0, 1.0, 0.0, 0.0]])


def plain(d: int) -> Schema:
    return Schema(tuple(Column(f"x{j}", spread=2.0) for j in range(d)))


def around(free: Freedom, low, high, samples: int = 4000, centre=CENTRE):
    draw = free.draw(samples, np.random.default_rng(0))
    return free.around(centre, np.full(len(centre), low), np.full(len(centre), high), draw)


@pytest.mark.parametrize("power", [1, 2])
def test_distance_is_that_of_model_space(power):
    free, encoding = Freedom(MIXED, power), Encoding(MIXED)
    rows = around(free, 1.0, 3.0, 50)[0]
    origin = np.repeat(CENTRE[:1], 50, axis=0)
    expected = np.linalg.norm(encoding.encode(rows) - encoding.encode(origin), ord=power, axis=1)
    np.testing.assert_allclose(free.distance(rows, origin), expected)


@pytest.mark.parametrize("power", [1, 2])
def test_shells_are_uniform_in_volume(power):
    """In 3 dimensions the shell from 1 to 2 has (1.5^3 - 1) / (2^3 - 1) of its volume below 1.5."""
    free = Freedom(plain(3), power)
    rows = around(free, 1.0, 2.0, 20_000, np.zeros((1, 3)))[0]
    far = np.linalg.norm(rows / 2.0, ord=power, axis=1)
    assert far.min() >= 1.0 - 1e-9
    assert far.max() <= 2.0 + 1e-9
    assert (far < 1.5).mean() == pytest.approx((1.5**3 - 1) / 7, abs=0.01)


def test_l1_directions_are_uniform_on_the_l1_sphere():
    """A coordinate u of the l1 sphere in d dimensions: |u| has mean 1 / d and P(|u| > t) = (1 - t)^(d - 1)."""
    draw = Freedom(plain(4), 1).draw(40_000, np.random.default_rng(1))
    size = np.abs(draw.heading[:, 0])
    assert size.mean() == pytest.approx(1 / 4, abs=0.005)
    assert (size > 0.5).mean() == pytest.approx(0.5**3, abs=0.006)


def test_rows_are_legal_and_immutable_columns_stay():
    rows = around(Freedom(MIXED, 2), 2.0, 4.0).reshape(-1, 7)
    origin = np.repeat(CENTRE, 4000, axis=0)
    np.testing.assert_array_equal(rows[:, [0, 4, 6]], origin[:, [0, 4, 6]])
    np.testing.assert_array_equal(rows[:, 2], np.rint(rows[:, 2]))
    assert rows[:, 1].min() >= 0
    assert rows[:, 1].max() <= 200
    Encoding(MIXED).encode(rows)


def test_categories_change_only_where_the_radius_pays_for_it():
    """A change costs sqrt(2): none below, one from there to 2, both from 2 on, to every other value there is."""
    free = Freedom(MIXED, 2)
    changed = [
        (around(free, a, b)[:1, :, [3, 5]] != CENTRE[:1, None, [3, 5]]).sum(axis=2) for a, b in ((1, 1.4), (1.5, 1.9))
    ]
    assert changed[0].max() == 0
    assert set(np.unique(changed[1])) == {0, 1}
    assert set(np.unique(around(free, 2.1, 2.5)[0, :, 3])) == {0, 1, 2}


def test_a_part_of_the_way():
    free = Freedom(MIXED, 2)
    rows = np.array([[30.0, 100.0, 9.0, 2.0, 0.0, 1.0, 0.0]])
    np.testing.assert_array_equal(
        free.between(CENTRE[:1], rows, np.array([0.5])), [[30.0, 75.0, 6.0, 2.0, 0.0, 1.0, 0.0]]
    )


def test_nothing_to_change():
    free = Freedom(Schema((Column("a", mutable=False),)), 2)
    assert len(free.columns) == 0
    np.testing.assert_array_equal(around(free, 0.0, 1.0, 3, np.ones((2, 1))), np.ones((2, 3, 1)))
