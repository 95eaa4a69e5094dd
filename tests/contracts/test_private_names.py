"""A name with an underscore stays in its package: no module imports one from elsewhere."""

from __future__ import annotations

import ast
from pathlib import Path

import jali

HOME = Path(jali.__file__).parent


def crossing(path: Path) -> list[str]:
    """Private names that a module imports from a package it is not in."""
    inside = ("jali", *path.relative_to(HOME).parts[:-1])
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("jali"):
            continue
        for name in node.names:
            parts = (*node.module.split("."), name.name)
            private = next((k for k, part in enumerate(parts) if part.startswith("_") and part != "__init__"), None)
            if private is not None and inside[:private] != parts[:private] and parts[:private] != (*inside, path.stem):
                found.append(".".join(parts))
    return found


def test_none_crosses_a_package():
    modules = sorted(HOME.rglob("*.py"))
    assert len(modules) > 100
    assert {str(path.relative_to(HOME)): found for path in modules if (found := crossing(path))} == {}


def test_it_would_be_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.HOME", tmp_path)
    (tmp_path / "a").mkdir()
    module = tmp_path / "a" / "b.py"
    module.write_text(
        "from jali.a._c import d\nfrom jali.a.c import _d\nfrom jali.e import _f\nfrom jali.g._h import i\n"
    )
    assert crossing(module) == ["jali.a.c._d", "jali.e._f", "jali.g._h.i"]
