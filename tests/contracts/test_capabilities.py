"""Capabilities are protocols: no code asks one of our own parts whether it happens to have an attribute."""

from __future__ import annotations

import ast
from pathlib import Path

import jali

SOURCE = Path(jali.__file__).parent
# Where something that is not ours is asked what it has, and why; the number of such calls.
ALLOWED = {
    "adapters/explainers/has.py": (1, "explainers and answers of other libraries"),
    "api/audits.py": (1, "a fitted estimator of the user, passed in the place of a name"),
    "core/imports.py": (1, "module loaders of the interpreter"),
    "core/registry.py": (1, "annotations of dataclass fields"),
    "data/tables/files.py": (2, "exceptions of the network library and of the system"),
    "data/tables/in_memory.py": (3, "tables of the user: data frames or arrays"),
    "models/fitted/estimator.py": (5, "fitted estimators of the user"),
    "models/sklearn.py": (4, "estimator classes that a specification names"),
    "privacy/accounting.py": (2, "events of dp-accounting"),
    "stopping.py": (2, "signals that the operating system may lack"),
    "store.py": (1, "a flag of the operating system"),
}


def probes(tree: ast.AST) -> list[int]:
    """Lines that ask whether something has an attribute: hasattr, getattr with a default, a look into dir()."""
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    asked = [c for c in calls if c.func.id in ("hasattr", "dir") or (c.func.id == "getattr" and len(c.args) == 3)]
    return [call.lineno for call in asked]


def test_no_part_of_ours_is_probed():
    found = {}
    for path in SOURCE.rglob("*.py"):
        lines = probes(ast.parse(path.read_text(encoding="utf-8")))
        if lines:
            found[path.relative_to(SOURCE).as_posix()] = lines
    assert {name: len(lines) for name, lines in found.items()} == {name: count for name, (count, _) in ALLOWED.items()}


def test_a_probe_is_seen_and_a_field_by_name_is_none():
    assert probes(ast.parse('hasattr(part, "x")')) == [1]
    assert probes(ast.parse('\ngetattr(part, "x", None)')) == [2]
    assert probes(ast.parse('"x" in dir(part)')) == [1]
    assert probes(ast.parse("getattr(part, field.name)")) == []
