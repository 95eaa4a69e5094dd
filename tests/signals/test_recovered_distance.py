from __future__ import annotations

import numpy as np

from jali.core.encoding import Encoding
from jali.core.explanation import Counterfactual
from jali.core.values import Column, Schema, Seen
from jali.signals.recovered_distance import RecoveredDistance

SCHEMA = Schema((Column("a", spread=2.0), Column("b")))


def seen(X, rows):
    there = Counterfactual(rows, np.ones(len(X), dtype=bool))
    return Seen({"x": lambda: X, "counterfactual": lambda: there, "encode": lambda: Encoding(SCHEMA).encode})


def test_the_length_of_the_answer_does_not_matter():
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(50, 2)), np.array([3.0, 4.0])
    Z = Encoding(SCHEMA).encode(X)
    answers = [Encoding(SCHEMA).decode(Z + t * rng.lognormal(size=(50, 1)) * w) for t in (0.1, -5.0)]
    exact = np.log(np.abs(Z @ w) / 5)  # the distance of a linear model without intercept
    for rows in answers:
        np.testing.assert_allclose(RecoveredDistance()(seen(X, rows)), exact, atol=1e-9)


def test_no_move_is_finite():
    assert np.isfinite(RecoveredDistance()(seen(np.ones((2, 2)), np.ones((2, 2))))).all()
