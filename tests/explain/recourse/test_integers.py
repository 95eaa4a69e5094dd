from __future__ import annotations

from dataclasses import replace

import numpy as np

from jali.core.encoding import Encoding
from jali.core.values import Column, Schema
from jali.explain._recourse.integers import frugal, legal, rounded, settled, units
from jali.explain._recourse.search import leap
from jali.explain._recourse.task import numbers
from jali.models.fitted.linear import LinearModel


def task(schema, w, b, X, cost="l2"):
    w, encoding = np.asarray(w, float), Encoding(schema)
    model = LinearModel(encoding, np.stack([0 * w, w], axis=1), np.array([0.0, b]))
    return numbers(model, encoding, encoding.encode(np.asarray(X, float)), np.ones(len(X), dtype=int), cost)


def test_units_are_those_of_mutable_whole_numbers():
    schema = Schema(
        (Column("a", "integer", spread=4.0), Column("b"), Column("c", "integer", mutable=False), Column("d", "integer"))
    )
    np.testing.assert_array_equal(units(Encoding(schema)), [0.25, 0, 0, 1])


def test_units_that_can_be_spared_are_taken_back():
    """From (0, 0), 2 n + m >= 4.5 is reached at (1.8, 0.9): rounded out (2, 1), where m can be spared only by n = 3."""
    schema = Schema((Column("n", "integer", 0, 9), Column("m", "integer", 0, 9)), favourable=1)
    t = task(schema, [2, 1], -4.5, [[0, 0]])
    z, found = legal(t, (np.array([[1.8, 0.9]]), np.array([True])), units(Encoding(schema)))
    assert found[0]
    np.testing.assert_allclose(z, [[2, 1]])
    z, _ = legal(t, (np.array([[2.4, 0.1]]), np.array([True])), units(Encoding(schema)))  # rounded out: (3, 1)
    np.testing.assert_allclose(z, [[2, 1]])  # of the two units to spare, that of n saves more


def test_rounding_that_loses_the_outcome_goes_further():
    """Whole numbers stop at their bound: the rest has to come from the other column."""
    schema = Schema((Column("n", "integer", 0, 1), Column("x", low=0, high=9)), favourable=1)
    t = task(schema, [1, 1], -4.0, [[0, 0]])
    short = np.array([[1.0, 2.8]])  # not valid as it stands
    z, found = legal(t, (short, np.array([True])), units(Encoding(schema)))
    assert found[0]
    assert t.margin(z)[0][0] > 0


def test_the_rest_moves_again_once_whole_numbers_stand():
    """Every n in turn with the x it leaves: ours is the nearest of them."""
    rng = np.random.default_rng(0)
    schema = Schema((Column("n", "integer", -20, 20, spread=2.0), Column("x", low=-20, high=20)), favourable=1)
    X = np.stack([rng.integers(-4, 1, 40), rng.normal(size=40) - 2], axis=1)
    w, b = np.array([1.3, 0.9]), -1.0
    t, unit = task(schema, w, b, X), units(Encoding(schema))
    z, found = settled(t, legal(t, leap(t), unit), unit)
    assert found.all()
    n = np.arange(-20, 21)
    x = np.maximum((-b - w[0] * n / 2) / w[1], X[:, 1:])
    best = np.hypot((n - X[:, :1]) / 2, x - X[:, 1:]).min(axis=1)
    ratio = t.spent(z) / best
    assert (ratio > 1 - 1e-6).all()
    assert np.median(ratio) < 1.01
    assert ratio.max() < 1.3
    np.testing.assert_allclose(z[:, 0] * 2, np.rint(z[:, 0] * 2))


def test_a_point_that_was_not_found_stays_so():
    schema = Schema((Column("n", "integer", 0, 1),), favourable=1)
    t = task(schema, [1], -4.0, [[0]])
    assert not legal(t, (np.array([[1.0]]), np.array([False])), units(Encoding(schema)))[1].any()


def test_many_small_units_are_taken_back_in_few_steps():
    """From (2, 3000), where n + m / 1000 >= 1.5 holds by 3.5: n has unit 1, m has unit 1 / 1000."""
    schema = Schema((Column("n", "integer", 0, 9), Column("m", "integer", 0, 9999, spread=1000.0)), favourable=1)
    t, asked = task(schema, [1, 1], -1.5, [[0, 0]]), []

    class Counted:
        def margin(self, Z, of):
            asked.append(len(Z))
            return t.model.margin(Z, of)

    z, found = legal(replace(t, model=Counted()), (np.array([[2.0, 3.0]]), np.array([True])), units(Encoding(schema)))
    assert found[0]
    assert len(asked) < 40
    np.testing.assert_allclose(t.margin(z)[0], 0, atol=0.002)  # nothing is left to spare
    assert t.spent(z)[0] < 1.2 * np.hypot(0.75, 0.75)  # the nearest points: (0, 1500), (1, 500)


def test_rounded_is_the_nearest_number_of_units_from_the_record():
    schema = Schema((Column("n", "integer", 0, 3, spread=2.0), Column("x")), favourable=1)
    t = task(schema, [1, 1], -9, [[1, 0.0]])
    z = rounded(t, np.array([[0.5 + 0.3, 0.4]]), units(Encoding(schema)))
    np.testing.assert_allclose(z, [[0.5 + 0.5, 0.4]])  # 0.6 of a unit is one
    np.testing.assert_allclose(rounded(t, np.array([[9.0, 0.4]]), units(Encoding(schema))), [[1.5, 0.4]])


def test_frugal_tries_again_without_what_is_too_dear():
    """One unit of n costs 1; of x, 0.1 is enough. A search that pays for n first is asked again without it."""
    schema = Schema((Column("n", "integer", -9, 9), Column("x", low=-9, high=9)), favourable=1)
    t, unit, seen = task(schema, [1, 1], -0.1, [[0, 0]]), np.array([1.0, 0.0]), []

    def search(some):
        seen.append(len(some))
        stuck = some.low[:, 0] == some.high[:, 0]
        z = np.where(stuck[:, None], [[0.0, 0.11]], [[1.0, 0.0]])
        return z, np.ones(len(some), dtype=bool)

    z, found = frugal(t, search, unit)
    assert found.all()
    np.testing.assert_array_equal(z, [[0.0, 0.11]])
    assert seen == [1, 1]
