"""What every explainer, and every defence that wraps one, must do."""

from __future__ import annotations

import dataclasses
import functools
import importlib.util

import numpy as np
import pytest

from jali.core import registry
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.explanation import Surrogate
from jali.core.values import Column, Dataset, Schema, frozen
from jali.models.logistic import Logistic
from tests.explaining import explained

SCHEMA = Schema(
    (
        Column("age", "integer", 18, 90, 45, 15, mutable=False, role="quasi"),
        Column("income", "number", 0, 200, 50, 25),
        Column("lines", "integer", 0, 12, 4, 3),
        Column("job", "category", categories=("a", "b", "c"), role="quasi"),
    ),
    favourable=1,
)


@dataclasses.dataclass(frozen=True)
class Public:
    """Other people of the same population."""

    def load(self) -> Dataset:
        return people(300, 9)


def example(name: str):
    """The part with its defaults; a defence, whose parameters have none, with little noise and public data of here."""
    cls = registry.find("explain", name)
    if not hasattr(cls, "example"):
        return registry.build("explain", name)
    part = cls.example(200.0)
    return dataclasses.replace(part, public=Public()) if hasattr(part, "public") else part


SMALL = 'sklearn(estimator="sklearn.ensemble:RandomForestClassifier", params="n_estimators=5")'
FOREST = registry.build("model", SMALL)
LIBRARIES = {"lime_tabular": "lime", "dice": "dice_ml"}  # parts that need a library beyond those of the tests
NAMES = [n for n in registry.names("explain") if n not in LIBRARIES or importlib.util.find_spec(LIBRARIES[n])]
EXPLAINERS = [example(name) for name in NAMES]
RECOURSE = [e for e in EXPLAINERS if e.gives == "counterfactual"]
ASKED = 80  # of the people, whose answers are looked at
explainers = pytest.mark.parametrize("explainer", EXPLAINERS, ids=NAMES)


def people(n: int, seed: int) -> Dataset:
    rng = np.random.default_rng(seed)
    X = np.stack(
        [rng.integers(18, 91, n), rng.uniform(0, 200, n), rng.integers(0, 13, n), rng.integers(0, 3, n)], axis=1
    )
    y = (X[:, 1] / 25 - X[:, 2] / 3 + X[:, 3] + rng.normal(size=n) > 4.5).astype(int)
    return Dataset(X, y, SCHEMA)


def setting(explainer, n: int = 300):
    """People, and a model of them that the explainer can explain."""
    data = people(n, 0)
    plain = FOREST if explainer.wants == "trees" else Logistic()
    trainer = explainer.deployed() if hasattr(explainer, "deployed") else plain
    return data, trainer.fit(data, np.ones((n, 1), bool), [np.random.default_rng(1)])[0]


def explain(explainer, model, data, rows=slice(ASKED), seed=0):
    train = data if explainer.reads_training_data else None
    return explained(explainer, model, data.X[rows], data.schema, train, np.random.default_rng(seed))


@functools.cache
def answered(at: int):
    """The people, the model and the answers of one explainer, made once for the contracts that look at them."""
    data, model = setting(EXPLAINERS[at])
    return data, model, explain(EXPLAINERS[at], model, data)


def values(explanation):
    """The numbers of an explanation; of a surrogate, what it says of a grid of people."""
    if isinstance(explanation, Surrogate):
        said = [model.logits(people(40, 5).X).ravel() for model in explanation.models]
        return frozen(np.stack(said)[explanation.which], float, (None, None), "said")
    return explanation.value if hasattr(explanation, "value") else explanation.rows


@explainers
def test_finite_frozen_and_of_the_declared_kind(explainer):
    _, _, out = answered(EXPLAINERS.index(explainer))
    assert type(out).__name__.lower() == explainer.gives
    assert np.isfinite(values(out)).all()
    assert not values(out).flags.writeable
    assert len(values(out)) == len(out.found) == ASKED


@explainers
def test_the_same_stream_gives_the_same_answer_in_any_order(explainer):
    data, model, first = answered(EXPLAINERS.index(explainer))
    np.testing.assert_array_equal(values(first), values(explain(explainer, model, data)))
    back = explain(explainer, model, data, slice(ASKED - 1, None, -1))
    np.testing.assert_allclose(values(back)[::-1], values(first), atol=1e-9)


@pytest.mark.parametrize("explainer", RECOURSE, ids=[registry.spec(e) for e in RECOURSE])
def test_counterfactuals_are_legal_and_valid(explainer):
    data, model, out = answered(EXPLAINERS.index(explainer))
    X = data.X[:ASKED]
    before, after = model.logits(X).argmax(axis=1), model.logits(out.rows).argmax(axis=1)
    assert out.found.any()
    if getattr(explainer, "checked", True):  # a private one must not look whether its answer holds
        assert (after[out.found] == SCHEMA.favourable).all()
    assert not out.found[before == SCHEMA.favourable].any()
    np.testing.assert_array_equal(out.rows[~out.found], X[~out.found])
    for j, column in enumerate(SCHEMA.columns):
        if not column.mutable:
            np.testing.assert_array_equal(out.rows[:, j], X[:, j])
        if column.kind == "integer":
            np.testing.assert_array_equal(out.rows[:, j], np.rint(out.rows[:, j]))
        if column.kind != "category":
            assert out.rows[:, j].min() >= column.low
            assert out.rows[:, j].max() <= column.high
    Encoding(SCHEMA).encode(out.rows)


@explainers
def test_specification_and_docstring(explainer):
    assert registry.build("explain", registry.spec(explainer, every=True)) == explainer
    text = type(explainer).__doc__ or ""
    assert ">>>" in text


@explainers
def test_a_model_it_cannot_explain_is_refused_in_one_sentence(explainer):
    data = people(300, 0)
    model = FOREST.fit(data, np.ones((len(data), 1), bool), [np.random.default_rng(0)])[0]
    refusal = _refusal(lambda: explain(explainer, model, data))
    assert refusal == "" or ("needs" in refusal and "RandomForestClassifier" in refusal)


def _refusal(call) -> str:
    """What a call says when it refuses, empty if it gives a finite answer."""
    try:
        assert np.isfinite(values(call())).all()
    except JaliError as error:
        return str(error)
    return ""


def test_every_defence_is_a_part_of_a_known_kind():
    for kind in ("explain", "model"):
        for name in registry.names(kind):
            assert dataclasses.is_dataclass(registry.find(kind, name))
