"""Explainers have two steps: what is fitted lives in what was prepared, and nowhere else; so it is with trainers."""

from __future__ import annotations

import collections
import functools
import importlib
import pkgutil
import weakref
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import jali.anonymity
import jali.defend
import jali.explain
import jali.models
from jali.audit.experiment import run
from jali.audit.setup import Experiment, load
from jali.core import registry
from jali.core.explanation import Attribution
from jali.core.guarantee import unannounced
from jali.core.protocols import Recomputable, is_local, keeps_immutable, releases_rows
from tests.contracts.people import streams
from tests.contracts.test_explain import EXPLAINERS, FOREST, NAMES, people, setting, values
from tests.contracts.test_models import SPECS, membership, table, trainer
from tests.explaining import Direct

FEW = {"lore": "lore(samples=40, generations=2)", "cchvae": "cchvae(shells=5)"}
QUICK = [registry.build("explain", FEW[n]) if n in FEW else e for n, e in zip(NAMES, EXPLAINERS, strict=True)]
trainers = pytest.mark.parametrize("name", SPECS)
explainers = pytest.mark.parametrize("explainer", QUICK, ids=NAMES)


def two_models(explainer):
    """Two training sets, and a model of each that the explainer can explain."""
    one, first = setting(explainer, 120)
    other = people(110, 3)
    plain = FOREST if explainer.wants == "trees" else registry.build("model", "logistic")
    trainer = explainer.deployed() if hasattr(explainer, "deployed") else plain
    second = trainer.fit(other, np.ones((len(other), 1), bool), [np.random.default_rng(2)])[0]
    return (one, first), (other, second)


def prepared(explainer, data, model):
    train = data if explainer.reads_training_data else None
    return explainer.prepare(model, data.schema, train, np.random.default_rng(0))


@explainers
def test_two_models_explained_in_alternation_give_the_bits_of_each_alone(explainer):
    pairs = two_models(explainer)
    tiles = [people(24, 7).X[:12], people(24, 7).X[12:]]
    alone = []
    for pair in pairs:
        ready = prepared(explainer, *pair)
        alone.append([values(ready.explain(X, np.random.default_rng(t))) for t, X in enumerate(tiles)])
    both = [prepared(explainer, *pair) for pair in pairs]
    for t, X in enumerate(tiles):
        for ready, mine in zip(both, alone, strict=True):
            np.testing.assert_array_equal(values(ready.explain(X, np.random.default_rng(t))), mine[t])


WEAK = weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet
CONTAINERS = dict, list, set, collections.deque, *WEAK


def sizes():
    """Of every module that fits something, the sizes of its containers and memoised functions."""
    out = {}
    for package in (jali.explain, jali.models, jali.defend, jali.anonymity):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for name, value in vars(importlib.import_module(found.name)).items():
                if isinstance(value, functools._lru_cache_wrapper):
                    out[found.name, name] = value.cache_info().currsize
                elif not name.startswith("__") and isinstance(value, CONTAINERS):
                    out[found.name, name] = len(value)
    return out


@explainers
def test_no_module_keeps_what_was_fitted(explainer):
    data, model = setting(explainer, 120)
    before = sizes()
    prepared(explainer, data, model).explain(data.X[:12], np.random.default_rng(0))
    assert sizes() == before


@trainers
def test_no_module_keeps_what_was_trained(name, tmp_path, monkeypatch):
    """The first fit may load libraries; a second one, of other rows, leaves every module as it was."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    part, data = trainer(name), table(name)
    with unannounced():
        part.fit(data, membership(len(data))[:, :1], streams(1))
        before = sizes()
        other = data.rows(np.arange(len(data)) > 8)
        part.fit(other, membership(len(other))[:, :1], streams(1))
    assert sizes() == before


@dataclass(frozen=True)
class Counts(Direct):
    """Attributions of nothing, by an explainer that counts how often it is prepared."""

    calls: ClassVar[list[str]] = []  # no field: the specification stays the same
    gives: ClassVar[str] = "attribution"
    wants: ClassVar[str] = "labels"

    def prepare(self, model, schema, train, rng):
        self.calls.append("prepare")
        return super().prepare(model, schema, train, rng)

    def answer(self, model, X, schema, train, rng):
        self.calls.append("explain")
        return Attribution(X)


def test_an_audit_prepares_an_explainer_once_per_column():
    part = Counts()
    part.calls.clear()
    models, data = 3, registry.build("data", "linear_gaussian(n=600, d=3)")
    game = registry.build("game", f"rotate(models={models})")
    attack = registry.build("attack", "threshold")
    run(load(Experiment(data, registry.build("model", "logistic"), game, (part,), (attack,))))
    assert part.calls.count("prepare") == models
    assert part.calls.count("explain") > models


SHOWS = {"nice", "face", "k_anonymous", "mondrian", "hardened"}


@explainers
def test_every_explainer_answers_every_capability(explainer):
    name = registry.name_of(explainer)
    data, model = setting(explainer, 120)
    assert releases_rows(explainer) == (name in SHOWS)
    assert keeps_immutable(explainer) == (name in SHOWS)
    assert is_local(explainer) == (name == "lore")
    assert isinstance(prepared(explainer, data, model), Recomputable) == (name in {"k_anonymous", "mondrian"})


@pytest.mark.parametrize("wrapper", ["k_anonymous", "mondrian"])
def test_a_wrapper_answers_for_what_it_wraps(wrapper):
    build = registry.build
    assert keeps_immutable(build("explain", f"{wrapper}(nice())"))
    assert not keeps_immutable(build("explain", f'{wrapper}(nice(immutable="free"))'))
    assert not releases_rows(build("explain", f"{wrapper}(scfe())"))
    assert releases_rows(build("explain", f"{wrapper}(face())"))
