"""What every part of every kind is: a frozen dataclass with its kind's method, a specification and a docstring."""

from __future__ import annotations

import dataclasses
import inspect

import pytest

from jali.core import registry

from .citations import citations

VERBS = {
    "data": "load",
    "game": "draw",
    "model": "fit",
    "explain": "prepare",
    "signal": "__call__",
    "attack": "score",
    "query_attack": "run",
    "knowledge": "know",
}
# Standard methods, wrappers and tables of our own design: no publication says what they must compute.
UNPUBLISHED = {
    "data": {"declared", "lending", "sample", "table", "without"},
    "explain": {"reason_codes"},
    "model": {"given", "logistic", "mlp", "sklearn", "tuned"},
}
PARTS = [(kind, name) for kind in VERBS for name in registry.names(kind)]
parts = pytest.mark.parametrize(("kind", "name"), PARTS, ids=[f"{kind}-{name}" for kind, name in PARTS])


def prose(kind: str, name: str) -> str:
    return inspect.getdoc(registry.find(kind, name)) or ""


def test_every_kind_is_held_to_this():
    assert set(VERBS) == set(registry.FOLDERS)
    for kind, names in UNPUBLISHED.items():
        assert names <= set(registry.names(kind))


@parts
def test_a_part_is_a_frozen_dataclass_with_the_method_of_its_kind(kind, name):
    cls = registry.find(kind, name)
    assert dataclasses.is_dataclass(cls)
    assert cls.__dataclass_params__.frozen
    assert callable(getattr(cls, VERBS[kind]))
    others = {verb for other, verb in VERBS.items() if other != kind and verb != "__call__"}
    assert not others & set(vars(cls))


@parts
def test_the_docstring_opens_with_one_sentence_on_one_line(kind, name):
    first, _, rest = prose(kind, name).partition("\n")
    assert first.endswith(".")
    assert first[0].isupper() or first[0] in "`("
    assert not rest or rest.startswith("\n")


@parts
def test_a_published_method_names_authors_and_year(kind, name):
    text = prose(kind, name)
    if kind == "data" and name not in UNPUBLISHED["data"]:
        text = f"{registry.find(kind, name).origin}. {text}"
    assert bool(citations(text)) != (name in UNPUBLISHED.get(kind, ()))


@pytest.mark.parametrize(
    "text",
    [
        "Carlini et al., Membership Inference Attacks From First Principles, S&P 2022.",
        "As in Goethals et al. (2023).",
        "Goethals, Sörensen and Martens, The Privacy Issue of Counterfactual Explanations, 2022.",
        "Linear discriminant analysis (Fisher 1936).",
        "Poyiadzi, Sokol, Santos-Rodriguez, De Bie and Flach, FACE, AIES 2020.",
    ],
)
def test_citations_are_recognised(text):
    assert len(citations(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Sugar and spice, since 2022.",
        "as in the paper of 2019",
        "It was measured. 2021 rows.",
        "Income, as it was in 2005.",
        "A Great Challenge (2018)",
        "a and b (2020)",
        "20",
    ],
)
def test_what_names_nobody_or_no_year_is_no_citation(text):
    assert not citations(text)
