"""Capabilities are protocols: no code asks one of our own parts whether it happens to have an attribute."""

from __future__ import annotations

import ast
from pathlib import Path

import jali

SOURCE = Path(jali.__file__).parent
# Where something that is not ours is asked what it has, and why; the number of such calls.
ALLOWED = {
    "adapters/explainers/has.py": (1, "explainers and answers of other libraries"),
    "adapters/models/function.py": (1, "tables of the user: data frames or arrays"),
    "adapters/models/hidden_splits.py": (3, "estimators of the user and what their parameters hold"),
    "adapters/models/http.py": (2, "tables of the user, and exceptions of the network library"),
    "adapters/models/onnx.py": (2, "sessions and tables of the user"),
    "adapters/models/recognise.py": (8, "models of the user: what they can do says of which kind they are"),
    "adapters/models/regression.py": (5, "models of the user"),
    "adapters/models/torch_module.py": (2, "estimators of the user that may hold a torch module"),
    "api/audits.py": (1, "a fitted estimator of the user, passed in the place of a name"),
    "api/explaining.py": (2, "what an import path of the user names: a fitted model, or a function that returns one"),
    "api/own_model.py": (1, "the name of a user's function"),
    "api/protected.py": (1, "a fitted estimator of the user"),
    "api/protection.py": (2, "a fitted estimator and tables of the user"),
    "core/allocation.py": (1, "a function that not every C library has"),
    "core/contents.py": (2, "what a user's part holds"),
    "core/files.py": (2, "flags of the operating system"),
    "core/imports.py": (2, "modules and module loaders of the interpreter"),
    "core/literals.py": (1, "what a user's part holds: an array or not"),
    "core/registry.py": (1, "annotations of dataclass fields"),
    "data/tables/columns.py": (1, "time zones of pandas types"),
    "data/tables/files.py": (2, "exceptions of the network library and of the system"),
    "data/tables/in_memory.py": (9, "tables of the user: data frames of any library, sparse matrices or arrays"),
    "data/tables/model_inputs.py": (1, "time zones of pandas types"),
    "models/fitted/answers.py": (2, "answers of the user's model: tables or tensors"),
    "models/fitted/estimator.py": (11, "fitted estimators of the user"),
    "models/sklearn.py": (4, "estimator classes that a specification names"),
    "privacy/accounting.py": (2, "events of dp-accounting"),
    "protect/explainer.py": (1, "tables of the user: data frames or arrays"),
    "stopping.py": (3, "signals and owners of files that the operating system may lack"),
    "store/files.py": (1, "a flag of the operating system"),
    "store/mapped.py": (2, "what the operating system can do with maps and room on a disk"),
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
