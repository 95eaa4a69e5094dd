"""What every query attack must do, linkage attacks included; it learns of a model what its oracle answers."""

from __future__ import annotations

import dataclasses
import inspect

import numpy as np
import pytest

from jali.core import registry
from jali.core.claims import Identity, Membership
from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Surrogate
from jali.core.query import Oracle
from jali.core.values import Dataset
from jali.knowledge.register import Register
from jali.models.logistic import Logistic

from .people import SCHEMA, people

TREE = 'sklearn("sklearn.tree:DecisionTreeClassifier")'
SPECS = {
    "aloa": f"aloa(perturbations=20, shadow={TREE})",
    "boundary_distance": f"boundary_distance(probes=8, steps=1, shadow={TREE})",
    "intersection": "intersection",
    "label_only": f"label_only(perturbations=20, shadow={TREE})",
    "linkage": "linkage",
    "minimality": 'minimality(by="model")',
    "shokri_mia": f"shokri_mia({TREE}, {TREE}, shadows=1)",
    "vote": f'vote(label_only(perturbations=10, shadow={TREE}), "threshold", each=1)',
}
every = pytest.mark.parametrize("name", SPECS)
linking = [name for name in SPECS if registry.find("query_attack", name).learns == "identity"]
MODEL = Logistic().fit(people(100), np.ones((100, 1), bool), [np.random.default_rng(0)])[0]
RECORDS = people(24, 7)


def attack(name: str):
    return registry.build("query_attack", SPECS[name])


def explain(name: str):
    """Explanations of the kind that an attack reads: rows of people for those that link, else surrogates."""
    shown = people(60, 3)
    if name in linking:
        return lambda X: Counterfactual(shown.X[: len(X)], np.ones(len(X), bool))
    return lambda X: Surrogate((MODEL,) * len(X), np.arange(len(X)), np.ones(len(X), bool))


def oracle(name: str) -> Oracle:
    return Oracle(SCHEMA, MODEL.logits, explain(name))


def known(name: str) -> Dataset:
    rows = people(60, 3)
    return Register().know(rows, np.random.default_rng(0)) if name in linking else rows


def run(name: str, records: Dataset = RECORDS, seed: int = 0):
    return attack(name).run(oracle(name), known(name), records, np.random.default_rng(seed))


def test_every_attack_is_in_this_table():
    assert set(SPECS) == set(registry.names("query_attack"))


@every
def test_it_is_given_an_oracle_and_never_the_membership_of_a_record(name):
    assert list(inspect.signature(attack(name).run).parameters) == ["oracle", "known", "records", "rng"]
    assert {f.name for f in dataclasses.fields(Dataset)} == {"X", "y", "schema", "groups", "outcome"}


@every
def test_one_finite_frozen_claim_per_record(name):
    found = run(name)
    assert isinstance(found, Identity if name in linking else Membership)
    assert found.score.shape == (len(RECORDS),)
    assert np.isfinite(found.score).all()
    assert not found.score.flags.writeable
    if name in linking:
        assert ((found.person >= -1) & (found.person < 60)).all()
        assert (found.candidates >= 0).all()
        assert found.values.shape == RECORDS.X.shape


@every
def test_the_same_stream_gives_the_same_claims(name):
    first, again = run(name), run(name)
    for field in dataclasses.fields(first):
        np.testing.assert_equal(getattr(again, field.name), getattr(first, field.name))


@every
def test_questions_are_counted(name):
    asked = oracle(name)
    attack(name).run(asked, known(name), RECORDS, np.random.default_rng(0))
    assert asked.queries >= len(RECORDS)


@every
def test_it_asks_for_no_more_than_it_declares(name):
    """An attack on labels works where labels are all that the oracle shows; one on explanations says what it misses."""
    part, blind = attack(name), dataclasses.replace(oracle(name), reveals="labels")
    if part.sees == "probabilities":
        with pytest.raises(JaliError, match="needs class probabilities"):
            part.run(blind, known(name), RECORDS, np.random.default_rng(0))
    else:
        assert len(part.run(blind, known(name), RECORDS, np.random.default_rng(0)).score) == len(RECORDS)
    if part.sees in ("counterfactuals", "local surrogates"):
        with pytest.raises(JaliError, match="reads explanations"):
            part.run(Oracle(SCHEMA, MODEL.logits), known(name), RECORDS, np.random.default_rng(0))


@every
def test_its_specification_rebuilds_it(name):
    part = attack(name)
    assert registry.build("query_attack", registry.spec(part)) == part
    assert registry.build("query_attack", registry.spec(part, every=True)) == part
