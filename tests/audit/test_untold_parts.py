"""Audits with parts of one's own that a specification does not describe: refused, or run without storing anything."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from jali.audit.all_models import shard
from jali.audit.experiment import run
from jali.audit.setup import Experiment, Resources, load
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.explanation import Attribution
from jali.store import Store


class Power:
    """Something to hold, whose text never changes."""

    def __init__(self, k: int) -> None:
        self.k = k

    def __repr__(self) -> str:
        return "Power()"


@dataclass(frozen=True)
class Mine:
    """An explainer that raises each column to a power that only its object knows."""

    held: Any
    gives: ClassVar[str] = "attribution"
    wants: ClassVar[str] = "labels"
    reads_training_data: ClassVar[bool] = False

    def prepare(self, model, schema, train, rng):
        return self

    def explain(self, X, rng):
        return Attribution(X**self.held.k)


@dataclass(frozen=True)
class Weighted:
    """A signal that holds a list, which has no hash."""

    weights: Any
    needs: ClassVar[frozenset[str]] = frozenset({"logits"})

    def __call__(self, seen):
        return seen.logits[:, 0] * self.weights[0]


def experiment(*explain: Any, **parts: Any) -> Experiment:
    return Experiment(
        registry.build("data", "linear_gaussian(n=60, d=3)"),
        registry.build("model", "logistic"),
        registry.build("game", "rotate(models=4)"),
        explain=explain,
        attack=(registry.build("attack", "lira"),),
        **parts,
    )


def values(found) -> np.ndarray:
    own = [s for s, name in enumerate(found.evidence.names) if name.explainer]
    return found.evidence.value[own]


def test_two_explainers_with_one_text_are_refused():
    with pytest.raises(JaliError, match="Two different parts of kind explain are both written"):
        load(experiment(Mine(Power(1)), Mine(Power(3))))


def test_an_object_of_another_content_is_explained_anew(tmp_path):
    """It was read from the store before, with the numbers of the first object."""
    resources = Resources(store=Store(tmp_path))
    first = run(load(experiment(Mine(Power(1)))), resources)
    other = run(load(experiment(Mine(Power(3)))), resources)
    truth = run(load(experiment(Mine(Power(3)))), Resources())
    assert np.array_equal(values(other), values(truth))
    assert not np.array_equal(values(other), values(first))
    assert len(resources.store.entries()) == 1  # of the check of the data, which no part of the user's decides
    assert any(w.startswith("Nothing of this run is stored") and "Power" in w for w in first.results.warnings)


def test_shards_of_such_parts_are_refused(tmp_path):
    with pytest.raises(JaliError, match="Shards find each other's results by specification"):
        shard(load(experiment(Mine(Power(1)))), Resources(store=Store(tmp_path)), 1, 2)


def test_a_signal_that_has_no_hash_is_a_signal():
    setup = load(experiment(signal=(Weighted([2.0]),)))
    found = run(setup)
    assert any("Weighted" in name.signal for name in found.evidence.names)
    again = run(load(replace(setup.parts, signal=(Weighted([2.0]), setup.parts.signal[0]))))
    assert again.evidence.names == found.evidence.names
