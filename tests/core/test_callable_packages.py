"""`jali.audit` is a package and a function, and so are the other verbs."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import pytest

import jali
import jali.api
from jali.core.callable_packages import Verb

VERBS = [name for name in ("audit", "protect", "verify", "reproduce") if importlib.util.find_spec(f"jali.{name}")]
FUNCTIONS = [name for name in VERBS if isinstance(importlib.import_module(f"jali.{name}"), Verb)]


def test_audit_is_a_verb():
    assert "audit" in FUNCTIONS


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_verb_is_a_package_that_is_called_as_its_function(name, monkeypatch):
    package = importlib.import_module(f"jali.{name}")
    assert getattr(jali, name) is package
    assert list(pkgutil.iter_modules(package.__path__))
    assert inspect.signature(package) == inspect.signature(getattr(jali.api, name))
    monkeypatch.setattr(jali.api, name, lambda *args, **options: (args, options))
    assert package(1, of=2) == ((1,), {"of": 2})


def test_the_function_is_looked_up_when_it_is_called(monkeypatch):
    from jali.audit import one_model

    monkeypatch.setattr("jali.api.audit", lambda: "called")
    assert jali.audit() == "called"
    assert one_model.__name__ == "jali.audit.one_model"
