from __future__ import annotations

import numpy as np

from jali.core.encoding import Encoding
from jali.core.values import Column, Schema
from jali.defend._dp.recourse import inside, moved, recourse_requests
from jali.models.fitted.linear import LinearModel


def test_who_asks_for_what():
    X = np.array([[-2.0], [3.0]])
    for favourable, asked, wanted, score in ((1, [1, 0], [1, 1], [-2, 3]), (0, [0, 1], [0, 0], [2, -3])):
        schema = Schema((Column("a"),), favourable=favourable)
        found = recourse_requests("x", LinearModel(Encoding(schema), np.array([[0.0, 1.0]]), np.zeros(2)), X, schema)
        np.testing.assert_array_equal(found.needed, np.array(asked, bool))
        np.testing.assert_array_equal(found.wanted, wanted)
        np.testing.assert_array_equal(found.score, score)
    schema = Schema((Column("a"),))
    found = recourse_requests("x", LinearModel(Encoding(schema), np.array([[0.0, 1.0]]), np.zeros(2)), X, schema)
    assert found.needed.all()
    np.testing.assert_array_equal(found.sign, [1, -1])
    np.testing.assert_array_equal(found.score, [-2, -3])


def test_moves_are_legal():
    columns = (
        Column("n", "integer", 0, 10, 5, 2),
        Column("m", low=0, high=1),
        Column("job", "category", categories=("a", "b")),
        Column("fixed", mutable=False),
    )
    encoding = Encoding(Schema(columns))
    X = np.array([[4.0, 0.5, 1.0, 7.0], [4.0, 0.5, 1.0, 7.0]])
    move = np.array([[0.6, 0.2, 1, 1, 1], [-0.6, 0.9, 1, 1, 1]])
    np.testing.assert_allclose(moved(X, move, encoding), [[6, 0.7, 1, 7], [2, 1.0, 1, 7]])
    np.testing.assert_array_equal(inside(X, move, encoding), [True, False])
    np.testing.assert_array_equal(moved(X, np.zeros_like(move), encoding), X)
