"""Oracles answer and count; claims are as many as the records."""

from __future__ import annotations

import numpy as np
import pytest

from jali.core.claims import Identity
from jali.core.errors import JaliError
from jali.core.query import Oracle
from jali.core.values import Schema


def ask(X):
    return np.stack([-X[:, 0], X[:, 0]], axis=1)


def test_probabilities_are_the_softmax_of_the_scores_and_questions_are_counted():
    oracle = Oracle(Schema(()), ask)
    p = oracle.probabilities(np.array([[0.0], [np.log(3) / 2]]))
    np.testing.assert_allclose(p, [[0.5, 0.5], [0.25, 0.75]])
    oracle.labels(np.ones((3, 1)))
    assert oracle.queries == 5


def test_an_oracle_of_labels_gives_no_probabilities():
    with pytest.raises(JaliError, match="label_only, aloa"):
        Oracle(Schema(()), ask, reveals="labels").probabilities(np.ones((1, 1)))


def test_claims_name_as_many_people_as_there_are_scores():
    with pytest.raises(JaliError, match="person must have shape"):
        Identity(np.zeros(2), np.zeros(3), np.zeros(2), np.zeros((2, 1)))
