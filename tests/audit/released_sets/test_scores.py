"""Scores against formulas that are written out, row by row."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata

from jali.audit.released_sets.scores import agreement, rarity, scores
from jali.audit.released_sets.spaces import FLAT, Heom, SquaredEuclidean, space
from jali.core.errors import JaliError
from jali.core.values import Column, Schema


def numbers(columns):
    return Schema(tuple(Column(f"x{j}", low=-5, high=5) for j in range(columns)))


def squared(x, rows):
    return ((x - rows) ** 2).sum(axis=1)


@pytest.mark.parametrize("columns", [3, FLAT + 4])
def test_ranks_are_those_of_the_formulas_of_domias(rng, columns):
    """As in vanderschaarlab/DOMIAS, src/domias/baselines.py: GAN-leaks, its calibrated form, and Monte Carlo."""
    X, G, R = (rng.normal(size=(n, columns)) / 3 for n in (41, 30, 35))
    near = np.array([squared(x, G).min() for x in X])
    far = np.array([squared(x, R).min() for x in X])
    reach = np.median(near)
    want = {
        "distance": np.exp(-near),
        "calibrated": 1 / (1 + np.exp(near - far)),
        "density": np.array([(squared(x, G) < reach).sum() for x in X]) / len(G),
    }
    codes = dict.fromkeys(("candidates", "released", "reference"), np.zeros((41, columns), dtype=np.int64))
    found = scores(SquaredEuclidean(numbers(columns)), X, G, R, codes)
    for name, formula in want.items():
        np.testing.assert_array_equal(rankdata(found[name].round(12)), rankdata(formula.round(12)), name)


def test_heom_counts_rows_nearer_than_a_distance():
    schema = Schema((Column("a", low=0, high=10), Column("b", "category", categories=("x", "y"))))
    rows = np.array([[0.0, 0], [1.0, 0], [0.0, 1]])
    assert Heom(schema).within(np.array([[0.0, 0]]), rows, 0.1).tolist() == [1]
    assert Heom(schema).within(np.array([[0.0, 0]]), rows, 0.2).tolist() == [2]
    np.testing.assert_allclose(Heom(schema).nearest(np.array([[0.0, 0]]), rows, 4), [[0.0, 0.1, 1.0, np.inf]])


def test_agreement_counts_only_what_an_answer_changed_where_the_question_is_known():
    candidates = np.array([[1, 2, 3], [1, 5, 5]])
    released = np.array([[1, 2, 9], [1, 5, 3]])
    asked = np.array([[1, 4, 9], [1, 5, 0]])
    ones = np.ones((2, 3))
    assert agreement(candidates, released, ones).tolist() == [2.0, 2.0]
    assert agreement(candidates, released, ones, asked).tolist() == [1.0, 0.0]


def test_a_rare_value_counts_more_than_a_common_one(rng):
    reference = np.r_[np.zeros(98), 1, 2][:, None].astype(np.int64)
    weight = rarity(np.array([[0], [1], [7]]), reference)[:, 0]
    np.testing.assert_allclose(weight, -np.log([98.5 / 101, 1.5 / 101, 0.5 / 101]))


def test_an_unknown_distance_is_one_sentence():
    with pytest.raises(JaliError, match="one of heom, squared_euclidean, not 'cosine'"):
        space("cosine", numbers(1))
