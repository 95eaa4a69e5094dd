"""Shadow models teach what members' probabilities look like."""

from __future__ import annotations

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.core.query import Oracle
from jali.query_attacks._shadow import shadow_models
from jali.query_attacks.shokri_mia import ShokriMIA, _balanced, _training_set

from .planted import FOREST, TREE, planted


def test_an_oracle_of_labels_says_which_attacks_fit():
    case = planted(TREE, n=30)
    with pytest.raises(JaliError, match="label_only, aloa"):
        ShokriMIA().run(case.oracle("labels"), case.known, case.records, np.random.default_rng(0))


def test_it_learns_from_the_probabilities_of_the_rows_that_trained_each_shadow_and_of_the_others():
    """A tree learnt by heart is certain of all; that of its own rows is right."""
    case = planted(TREE, n=60)
    shadow = shadow_models("x", TREE, case.oracle(), case.known, 3, np.random.default_rng(0))
    vectors, inside = _training_set(shadow)
    assert vectors.shape == (180, 2)
    np.testing.assert_allclose(vectors.sum(axis=1), 1)
    told = np.tile(shadow.rows.y, 3)
    assert (vectors.argmax(axis=1) == told)[inside].all()
    assert not (vectors.argmax(axis=1) == told)[~inside].all()
    assert inside.reshape(3, 60).T.tolist() == shadow.member.tolist()


def test_as_many_rows_in_as_out():
    inside = np.arange(20) < 14
    rows = _balanced(np.arange(2, 20), inside, np.random.default_rng(0))
    assert inside[rows].sum() == (~inside[rows]).sum() == 6
    assert len(set(rows.tolist())) == 12
    assert not len(_balanced(np.arange(5), inside, np.random.default_rng(0)))


def test_a_class_that_no_shadow_predicts_is_not_claimed():
    """The oracle tells the class 'rare' for one record only, and for no row that the adversary knows."""
    case = planted(FOREST, n=60)
    odd = case.records.X[7]

    def ask(X):
        scores = case.model.logits(X)
        return np.column_stack([scores, np.where((odd == X).all(axis=1), 50.0, -50.0)])

    from dataclasses import replace

    schema = replace(case.known.schema, classes=("a", "b", "rare"))
    known, records = (replace(d, schema=schema) for d in (case.known, case.records))
    score = ShokriMIA(FOREST, TREE, 1).run(Oracle(schema, ask), known, records, np.random.default_rng(0)).score
    assert score[7] == 0
    assert np.count_nonzero(score) > 60


def test_bad_sizes_are_refused():
    with pytest.raises(JaliError, match="shadows must be at least 1"):
        ShokriMIA(shadows=0)
