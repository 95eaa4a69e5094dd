"""Which of their own modules a user's module imports, read from its text: nothing is imported to find out."""

from __future__ import annotations

import ast
import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from jali.core import imports

INSTALLED = ("site-packages", "dist-packages")  # folders that package managers fill
DOTTED = re.compile(r"\.*[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
STANDARD = [Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")]


def imported_by(module: str, text: str) -> set[str]:
    """Modules that the text of a module imports, if they are the user's own too; installed ones have a version.

    >>> imported_by("json.decoder", "import numpy, json.scanner")
    set()
    """
    if not is_own(module) or _tree(text) is None:
        return set()
    return {name for name in _names(module, text) if name != module and is_own(name)}


def closure(module: str) -> set[str]:
    """A user's own module with all others of theirs that it imports; none if it was installed.

    >>> closure("json.decoder")
    set()
    """
    found: set[str] = set()
    todo = {module} if is_own(module) else set()
    while todo:
        name = todo.pop()
        found.add(name)
        try:
            text = imports.source(name)
            todo |= imported_by(name, text) - found
        except (OSError, TypeError, ImportError, SyntaxError, ValueError):
            continue
    return found


def packages(text: str) -> list[str]:
    """The packages that a text imports, installed or not.

    >>> packages("import lightgbm.sklearn; from numpy import linalg; from . import mine")
    ['lightgbm', 'numpy']
    """
    tree = _tree(text)
    nodes = [] if tree is None else list(ast.walk(tree))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    return sorted({name.partition(".")[0] for name in names})


def is_own(module: str) -> bool:
    """Whether a module is a file of the user's, which no package manager installed.

    >>> is_own("json.decoder"), is_own("numpy"), is_own("no.such.module"), is_own("__main__")
    (False, False, False, False)
    """
    if module == "__main__":  # any script that runs, and no module that a text names
        return False
    try:
        file = imports.file_of(module)
    except ImportError:
        return False
    if file is None or module.partition(".")[0] == "jali":
        return False
    path = Path(file)
    return not any(part in INSTALLED for part in path.parts) and not any(path.is_relative_to(at) for at in STANDARD)


def _tree(text: str) -> ast.Module | None:
    """A text as a tree; None where it is no Python that this one can read, so that nothing can import it."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _names(module: str, text: str) -> Iterator[str]:
    """Every dotted name that a text may import, with the packages around it; some are no modules.

    Also each text in it that could be the name of one: `importlib.import_module("lab.deep")`, `__all__ = ["deep"]`.
    """
    for node in ast.walk(_tree(text) or ast.Module([], [])):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _with_packages(alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(module, node)
            yield from _with_packages(base)
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and DOTTED.fullmatch(node.value):
            named = node.value.lstrip(".")
            yield from _with_packages(named)
            yield f"{_package(module)}.{named}".lstrip(".")


def _with_packages(name: str) -> Iterator[str]:
    """A dotted name and the packages that importing it also runs."""
    parts = name.split(".")
    yield from (".".join(parts[:depth]) for depth in range(1, len(parts) + 1))


def _absolute(module: str, node: ast.ImportFrom) -> str:
    """The module that a `from` names, where it counts from the importing module's package."""
    if not node.level:
        return node.module or ""
    package = _package(module).split(".")
    around = package[: len(package) - node.level + 1]
    return ".".join([*around, *([node.module] if node.module else [])])


def _package(module: str) -> str:
    """The package that a module is in, or is itself; empty if it is in none."""
    is_package = Path(imports.file_of(module) or "").name == "__init__.py"
    return module if is_package else module.rpartition(".")[0]
