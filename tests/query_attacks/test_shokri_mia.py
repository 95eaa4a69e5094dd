"""Shadow models teach what members' probabilities look like."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax

from jali.core.errors import JaliError
from jali.core.query import Oracle
from jali.query_attacks._shadow import shadow_models
from jali.query_attacks.shokri_mia import ShokriMIA, _balanced, _training_set
from jali.stats.delong import delong

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
    score = (
        ShokriMIA(FOREST, TREE, 1, "predicted").run(Oracle(schema, ask), known, records, np.random.default_rng(0)).score
    )
    assert score[7] == 0
    assert np.count_nonzero(score) > 60


def by_true_label(case):
    """The probability of each record's own label: what a plain threshold reads."""
    return softmax(case.model.logits(case.records.X), axis=1)[np.arange(len(case.records)), case.records.y]


def test_it_does_not_lose_to_a_plain_threshold_on_a_forest_that_fits_its_rows_by_heart():
    case = planted(FOREST, n=400, d=10, noise=0.3)
    auc = {}
    for reference in ("true", "predicted"):
        attack = ShokriMIA(FOREST, shadows=4, reference=reference)
        auc[reference] = delong(
            attack.run(case.oracle(), case.known, case.records, np.random.default_rng(0)).score, case.inside
        ).value
    plain = delong(by_true_label(case), case.inside).value
    assert auc["true"] > plain - 0.01
    assert auc["predicted"] < plain - 0.03  # what it was before: the class that the oracle predicts, not the record's


def test_bad_sizes_are_refused():
    with pytest.raises(JaliError, match="reference must be true or predicted"):
        ShokriMIA(reference="own")
    with pytest.raises(JaliError, match="shadows must be at least 1"):
        ShokriMIA(shadows=0)
