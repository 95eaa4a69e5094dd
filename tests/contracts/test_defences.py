"""What every defence must be: a part of the kind that it protects, and exact about what it guarantees."""

from __future__ import annotations

import dataclasses
import pkgutil
from typing import get_args

import pytest

import jali.defend.explain
import jali.defend.models
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.guarantee import Adjacency, Guarantee, Private


def modules(package) -> list[str]:
    return [m.name for m in pkgutil.iter_modules(package.__path__) if not m.ispkg and not m.name.startswith("_")]


DEFENCES = [("explain", name) for name in modules(jali.defend.explain)]
DEFENCES += [("model", name) for name in modules(jali.defend.models)]
UNPROVEN = [name for kind, name in DEFENCES if not issubclass(registry.find(kind, name), Private)]
SHUFFLED = "shuffled_sgd(dp_sgd(mlp(hidden=[], epochs=2), epsilon={}, rate=0.5))"
PROVEN = [(kind, name) for kind, name in DEFENCES if name not in UNPROVEN]
every = pytest.mark.parametrize(("kind", "name"), DEFENCES, ids=[name for _, name in DEFENCES])
proven = pytest.mark.parametrize(("kind", "name"), PROVEN, ids=[name for _, name in PROVEN])


def made(kind: str, name: str, epsilon: float):
    """The defence at a privacy budget; what wraps a private trainer has no budget of its own."""
    if name == "shuffled_sgd":
        return registry.build(kind, SHUFFLED.format(epsilon))
    if name == "dp_ebm":  # it takes too long to be tested by `jali verify`, which is what examples are for
        return registry.find(kind, name)(epsilon)
    return registry.find(kind, name).example(epsilon)


@every
def test_it_is_a_part_of_the_kind_that_it_protects(kind, name):
    assert name in registry.names(kind)
    assert registry.find(kind, name).__dataclass_params__.frozen


def test_defences_of_both_sorts_are_there():
    """What guarantees nothing must say so in its docstring, which the next but one test checks."""
    assert {"clipped_logistic", "k_anonymous", "mondrian"} <= set(UNPROVEN)
    assert {"dp_logistic", "dp_sgd", "laplace_recourse"} <= {name for _, name in PROVEN}


@pytest.mark.parametrize("name", UNPROVEN)
def test_a_defence_without_a_proof_says_so(name):
    kind = next(kind for kind, other in DEFENCES if other == name)
    text = " ".join((registry.find(kind, name).__doc__ or "").split())
    assert "no privacy" in text or "no guarantee of differential privacy" in text


@proven
def test_the_claim_is_complete(kind, name):
    pytest.importorskip("dp_accounting", reason="the extra jali-audit[dp] is not installed")
    claim = made(kind, name, 2.0).guarantee()
    assert isinstance(claim, Guarantee)
    assert claim.epsilon >= 2.0 if name == "shuffled_sgd" else claim.epsilon == 2.0
    assert claim.adjacency in get_args(Adjacency)
    assert claim.mechanism
    assert claim.covers
    assert claim.conditions


@proven
def test_a_smaller_budget_is_a_smaller_claim(kind, name):
    pytest.importorskip("dp_accounting", reason="the extra jali-audit[dp] is not installed")
    assert made(kind, name, 0.5).guarantee().epsilon < made(kind, name, 2.0).guarantee().epsilon


@proven
@pytest.mark.parametrize("epsilon", [0.0, -1.0, float("nan"), float("inf")])
def test_a_budget_that_is_none_is_refused(kind, name, epsilon):
    with pytest.raises(JaliError, match="epsilon"):
        made(kind, name, epsilon) if name != "shuffled_sgd" else made("model", "dp_sgd", epsilon)


@proven
def test_its_specification_rebuilds_it(kind, name):
    part = made(kind, name, 2.0)
    again = registry.build(kind, registry.spec(part, every=True))
    assert again == part
    assert dataclasses.is_dataclass(again)
