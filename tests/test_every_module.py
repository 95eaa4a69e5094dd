"""Every module can be imported, with the core alone as well: what an extra brings is imported where it is used."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import jali

MODULES = [module.name for module in pkgutil.walk_packages(jali.__path__, "jali.")]


def test_there_are_modules_in_every_package():
    assert {"jali.audit.experiment", "jali.cli.audit", "jali.attacks._combined.choice"} <= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_it_is_imported(name):
    """`make lowest` runs this where no extra is installed."""
    importlib.import_module(name)
