"""What every attack on labels or probabilities must do, whatever it computes."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from jali.core import registry
from jali.core.errors import JaliError
from jali.core.explanation import Surrogate
from jali.core.query import Oracle
from jali.core.values import Column, Dataset, Schema
from jali.explain.tree_surrogate import TreeSurrogate
from jali.models.logistic import Logistic
from jali.models.sklearn import Sklearn
from jali.query_attacks.aloa import ALOA
from jali.query_attacks.boundary_distance import BoundaryDistance
from jali.query_attacks.label_only import LabelOnly
from jali.query_attacks.shokri_mia import ShokriMIA
from jali.query_attacks.vote import Vote
from jali.stats.delong import delong
from tests.explaining import explained

from .planted import FOREST, NEAREST, TREE, Planted, numbered, planted

SMALL = Sklearn("sklearn.ensemble:RandomForestClassifier", "n_estimators=20, min_samples_leaf=10")
ATTACKS = [
    ShokriMIA(FOREST, SMALL, shadows=2),
    LabelOnly(perturbations=40, shadow=TREE),
    LabelOnly("true", perturbations=40, shadow=TREE),
    LabelOnly("as_released", perturbations=40, scale=1.0, flip=0.6, shadow=TREE),
    ALOA(perturbations=40, shadow=TREE),
    BoundaryDistance(probes=16, steps=2, shadow=TREE),
    Vote(LabelOnly(perturbations=20, shadow=TREE), "threshold", each=1),
]
query_attacks = pytest.mark.parametrize(
    "query_attack", ATTACKS, ids=[f"{registry.name_of(i)}-{k}" for k, i in enumerate(ATTACKS)]
)
NOISE = 0.3
LEAKS = [
    (ShokriMIA(FOREST, SMALL, shadows=2), FOREST, 10),
    (LabelOnly(perturbations=60, scale=0.2, shadow=TREE), NEAREST, 6),
    (LabelOnly("true", perturbations=60, shadow=TREE), NEAREST, 4),
    (LabelOnly("true", perturbations=60, shadow=TREE), TREE, 10),
    (ALOA(perturbations=60, shadow=TREE), NEAREST, 6),
    (ALOA("true", perturbations=60, shadow=TREE), TREE, 10),
    (BoundaryDistance(probes=16, steps=2, shadow=TREE), NEAREST, 6),
    (BoundaryDistance("true", probes=16, steps=2, shadow=TREE), TREE, 10),
]
leaks = pytest.mark.parametrize(
    ("query_attack", "trainer", "d"), LEAKS, ids=[f"{registry.name_of(i)}-{k}" for k, (i, *_) in enumerate(LEAKS)]
)


def oracle_of(case) -> Oracle:
    """The model itself, which also stands for each of its local surrogates."""
    return dataclasses.replace(
        case.oracle(), explain=lambda X: Surrogate((case.model,) * len(X), np.arange(len(X)), np.ones(len(X), bool))
    )


def claimed(query_attack, case, records=None, seed=0):
    return query_attack.run(oracle_of(case), case.known, records or case.records, np.random.default_rng(seed)).score


@leaks
def test_a_model_that_learnt_noisy_labels_by_heart_is_found_out(query_attack, trainer, d):
    case = planted(trainer, n=400, d=d, noise=NOISE)
    assert delong(claimed(query_attack, case), case.inside).low > 0.6


@leaks
def test_a_model_that_saw_nobody_is_not(query_attack, trainer, d):
    case = planted(trainer, n=400, d=d, noise=NOISE, null=True)
    found = delong(claimed(query_attack, case), case.inside)
    assert abs(found.value - 0.5) < 0.07
    assert found.low < 0.55


@pytest.mark.parametrize(("trainer", "d"), [(FOREST, 10), (TREE, 10), (NEAREST, 10)], ids=["forest", "tree", "nearest"])
def test_a_surrogate_that_was_fitted_on_a_leaking_model_is_found_out(trainer, d):
    """A full tree on the members, as the model labels them, knows the wrong labels that the model learnt."""
    case = planted(trainer, n=400, d=d, noise=NOISE)
    own = case.records.rows(case.inside)
    told = explained(TreeSurrogate(depth=0), case.model, own.X, own.schema, own, np.random.default_rng(0))
    query_attack = LabelOnly("true", perturbations=40, shadow=TREE)
    assert delong(claimed(query_attack, dataclasses.replace(case, model=told.models[0])), case.inside).low > 0.6


@pytest.mark.parametrize("labels", ["true", "predicted"])
@pytest.mark.parametrize(("trained", "auc"), [(slice(0, 200), 0.65), (slice(600, 800), 0.5)], ids=["members", "others"])
def test_probabilities_of_a_surrogate_show_whom_it_singled_out(trained, auc, labels):
    """A forest that knows 200 people by heart, and a tree that asks for the side and then for 30 numbers on each.

    Leaves of the 60 people so named are pure, those of all others are not: of 70 people on a side 60 have its label. Of
    the shadow's rows its own are certain and others .55, so surer means member: AUC .3 + .7 / 2. A tree grown on people
    that nobody asks about names none of those asked about.
    """
    data, at = numbered(800), np.arange(800)
    model, own = FOREST.fit(data, (at < 200)[:, None], [np.random.default_rng(1)])[0], data.rows(at[trained])
    told = explained(TreeSurrogate(31, labels=labels), model, own.X, own.schema, own, np.random.default_rng(0))
    case = Planted(told.models[0], data.rows(at < 400), at[:400] < 200, data.rows(at[400:600]))
    shadow = Sklearn("sklearn.neighbors:KNeighborsClassifier", 'n_neighbors=100, weights="distance"')
    found = delong(claimed(ShokriMIA(shadow, Logistic(), 2, "predicted"), case), case.inside)
    assert found.value == pytest.approx(auc)
    assert (found.low > 0.6) == (auc > 0.5)


@query_attacks
def test_the_same_stream_gives_the_same_claims_whatever_the_order_of_records(query_attack, rng):
    case = planted(TREE, n=60)
    order = rng.permutation(len(case.records))
    first = claimed(query_attack, case)
    np.testing.assert_array_equal(first, claimed(query_attack, case))
    np.testing.assert_array_equal(first[order], claimed(query_attack, case, case.records.rows(order)))


@query_attacks
def test_scores_are_finite_and_questions_are_counted(query_attack):
    case = planted(TREE, n=60)
    oracle = oracle_of(case)
    score = query_attack.run(oracle, case.known, case.records, np.random.default_rng(0)).score
    assert score.shape == (120,)
    assert np.isfinite(score).all()
    assert oracle.queries >= len(case.known) + len(case.records)


@query_attacks
def test_only_one_class_is_a_clear_error(query_attack):
    case = planted(TREE, n=60)
    flat = Oracle(case.known.schema, lambda X: np.tile([1.0, 0.0], (len(X), 1)))
    flat.explain = lambda X: Surrogate((Flat(),), np.zeros(len(X)), np.ones(len(X), bool))
    with pytest.raises(JaliError, match=r"closer to the data \(noise is the closest\)"):
        query_attack.run(flat, case.known, case.records, np.random.default_rng(0))


class Flat:
    def logits(self, X):
        return np.tile([1.0, 0.0], (len(X), 1))


@query_attacks
def test_too_few_known_rows_are_a_clear_error(query_attack):
    case = planted(TREE, n=60)
    few = case.known.rows(
        np.array([int(np.flatnonzero(case.model.logits(case.known.X).argmax(1) == c)[0]) for c in (0, 1)])
    )
    with pytest.raises(JaliError, match="knows 2 rows"):
        query_attack.run(oracle_of(case), few, case.records, np.random.default_rng(0))


@pytest.mark.parametrize("query_attack", ATTACKS[:-1])
def test_known_rows_with_a_class_each_are_a_clear_error(query_attack):
    schema = Schema((Column("x"),), tuple("abcd"))
    rows = Dataset(np.arange(4.0)[:, None], np.arange(4), schema)
    with pytest.raises(JaliError, match="4 rows that the adversary knows a class of its own"):
        query_attack.run(Oracle(schema, lambda X: -np.abs(X - np.arange(4))), rows, rows, np.random.default_rng(0))


@query_attacks
def test_its_specification_rebuilds_it_and_its_docstring_has_an_example(query_attack):
    assert registry.build("query_attack", registry.spec(query_attack)) == query_attack
    assert registry.build("query_attack", registry.spec(query_attack, every=True)) == query_attack
    text = type(query_attack).__doc__ or ""
    assert ">>>" in text


def test_parts_nest_in_a_specification():
    made = registry.build(
        "query_attack", 'vote(attack=label_only(shadow=sklearn("sklearn.tree:DecisionTreeClassifier")), each=2)'
    )
    assert made == Vote(LabelOnly(shadow=TREE), each=2)
    assert registry.build("query_attack", "vote") == Vote(ShokriMIA())


def test_categories_and_three_classes_are_fine():
    """Whole numbers, categories and three classes, with an oracle that reads all of them."""
    rng = np.random.default_rng(0)
    columns = (Column("a", "integer", 0, 9), Column("b", "category", categories=("x", "y", "z")), Column("c"))
    X = np.stack([rng.integers(0, 10, 90), rng.integers(0, 3, 90), rng.normal(size=90)], axis=1).astype(float)
    data = Dataset(X, X[:, 1].astype(int), Schema(columns, ("p", "q", "r")))

    def ask(X):
        assert set(np.unique(X[:, 1])) <= {0, 1, 2}
        return np.stack([X[:, 0] - 5, 3 * X[:, 2], X[:, 1] * 2 - 2], axis=1)

    for query_attack in ATTACKS[:-1]:
        assert np.isfinite(query_attack.run(Oracle(data.schema, ask), data, data, rng).score).all()
