from __future__ import annotations

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema
from jali.defend._dp.scaling import frame, labels

SCHEMA = Schema(
    (
        Column("age", "integer", 20, 60, 35, 5),
        Column("job", "category", categories=("a", "b", "c")),
        Column("fixed", low=3, high=3, centre=3),
    )
)
X = np.array([[20.0, 0.0, 3.0], [50.0, 2.0, 3.0]])


def test_bounds_become_minus_one_and_one_and_categories_one_hot():
    rows = frame("x", SCHEMA, 2.0, "bounds").rows(X)
    np.testing.assert_allclose(rows, [[-1, 1, 0, 0, 0, 1], [0.5, 0, 0, 1, 0, 1]])


def test_declared_takes_centre_and_spread():
    rows = frame("x", SCHEMA, 2.0, "declared").rows(X)
    np.testing.assert_allclose(rows, [[-3, 1, 0, 0, 0, 1], [3, 0, 0, 1, 0, 1]])


def test_rows_are_cut_to_the_bound_and_keep_their_one():
    known = frame("x", SCHEMA, 1.0, "declared")
    rows = known.cut(X)
    np.testing.assert_allclose(np.linalg.norm(rows[:, :-1], axis=1), 1.0)
    np.testing.assert_allclose(rows[:, -1], 1.0)
    assert known.radius == pytest.approx(np.sqrt(2))
    np.testing.assert_allclose(frame("x", SCHEMA, 9.0, "declared").cut(X), known.rows(X))


@pytest.mark.parametrize("scaling", ["bounds", "declared"])
def test_weights_on_scaled_rows_are_the_same_function_in_model_space(scaling):
    known, W = frame("x", SCHEMA, 1.0, scaling), np.random.default_rng(0).normal(size=(3, 6))
    logits = known.ensemble(W).logits(X)
    np.testing.assert_allclose(logits[:, :, 1] - logits[:, :, 0], known.rows(X) @ W.T)


def test_what_is_refused():
    with pytest.raises(JaliError, match="finite public range for every number, and column 'b' has none"):
        frame("x", Schema((Column("a", low=0, high=1), Column("b"))), 1.0, "bounds")
    with pytest.raises(JaliError, match="two classes, and this table has 3"):
        frame("x", Schema((Column("a"),), classes=("0", "1", "2")), 1.0, "declared")
    with pytest.raises(JaliError, match="no rows"):
        labels("x", Dataset(np.zeros((0, 1)), np.zeros(0), Schema((Column("a"),))))
