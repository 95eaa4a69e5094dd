"""A user's own modules in the working folder: importable only if the user named them, or if such a module imports them.

The working folder is never on `sys.path`. Libraries try to import optional modules (numexpr, bottleneck, lz4, ...),
and a file of such a name would run, even in a folder that somebody else filled.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import FrameType, ModuleType
from typing import Any

from jali.core.errors import JaliError

ImportPath = str  # package.module:name; a field of a part with this annotation names code
# Packages whose classifiers anybody may name: they read no files. `models.sklearn` checks that it is a classifier.
KNOWN = ("sklearn",)
SAFE = "PYTHONSAFEPATH"  # Python leaves the working folder, or that of a script, off its path where this is set
NAMED = re.compile(r"([\w-]+)(?:\.[\w-]+)*:\w")  # package.module:name, of which the package
IMPORTING = ("importlib", "_frozen_importlib", "_frozen_importlib_external")  # what runs between a request and a finder


class Finder:
    """Finds modules in one folder, for importers that are allowed to: see `find_spec`.

    expected: top-level modules that the user named. found: those that this finder has found.
    """

    def __init__(self, folder: str, expected: Iterable[str] = ()) -> None:
        self.folder = folder
        self.expected = set(expected)
        self.found: set[str] = set()

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,  # noqa: ARG002 (Python's protocol)
    ) -> ModuleSpec | None:
        """Find a module that the user named, or that a module found here imports; installed modules come first."""
        if path is not None or "." in name:  # inside a package: Python knows where to look
            return None
        if name not in self.expected and _importer() not in self.found:
            return None
        spec = PathFinder.find_spec(name, [self.folder])
        if spec is not None:
            self.found.add(name)
        return spec


def _importer() -> str:
    """The top-level name of the module whose code runs the import."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if name not in IMPORTING and frame.f_globals is not globals():
            return name
        frame = frame.f_back
    return ""


@contextlib.contextmanager
def beside() -> Iterator[None]:
    """Find the modules that a user names in the working folder, inside this context.

    Libraries may start Python processes of their own (scikit-learn does with n_jobs); the folder is off their path too.
    """
    os.environ[SAFE] = "1"
    try:
        folder = os.getcwd()
    except FileNotFoundError:  # the folder was removed: there is nothing in it
        yield
        return
    finder = Finder(folder)
    sys.meta_path.append(finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def expect(texts: Iterable[str]) -> None:
    """Allow the modules that these texts name: the user typed them, or trusts their file."""
    names = {name for text in texts for name in NAMED.findall(text)}
    for finder in _finders():
        finder.expected |= names


def places() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """What another process needs to find the same modules."""
    return tuple((f.folder, tuple(sorted(f.expected | f.found))) for f in _finders())


def follow(places: Iterable[tuple[str, tuple[str, ...]]]) -> None:
    """Find in this process the modules that `places` of another process lists."""
    sys.meta_path.extend(Finder(folder, names) for folder, names in places)


def _finders() -> list[Finder]:
    return [finder for finder in sys.meta_path if isinstance(finder, Finder)]


# --- specifications written by others -----------------------------------------------------------------------------


class ForeignCodeError(JaliError):
    """A specification that somebody else wrote names a module whose code would run."""

    def __init__(self, text: str, module: str) -> None:
        super().__init__(f"{text!r} would run the module {module!r}, which is not trusted.")
        self.text = text
        self.module = module


def admit(path: ImportPath, text: str, modules: Collection[str], packages: Collection[str] = ()) -> None:
    """Refuse an import path in a text unless it names one of these modules, or something in one of these packages.

    >>> admit("sklearn.tree:DecisionTreeClassifier", "tree", (), ("sklearn",))
    """
    module = path.partition(":")[0]
    first, *inner = module.split(".")
    # What a package keeps for itself, its tests above all, is not meant to be imported and may do anything.
    private = any(name.startswith(("_", "test", "conftest")) for name in inner)
    if module not in modules and (first not in packages or private):
        raise ForeignCodeError(text, module)


def named(path: ImportPath) -> Any:
    """What an import path names; a module that is not there, that raises or that exits is one sentence.

    >>> named("math:pi") > 3
    True
    """
    module, _, attribute = path.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (Exception, SystemExit) as error:  # whatever the code of a module may do
        raise JaliError(f"Cannot import {path!r}: {type(error).__name__}: {error}.") from error


def source(module: str) -> str:
    """The text of a module, loaded or not; nothing is run to find it.

    >>> "class JSONDecoder" in source("json.decoder")
    True
    """
    if module in sys.modules and not _is_empty(module):
        return inspect.getsource(sys.modules[module])
    text = getattr(_spec(module).loader, "get_source", lambda _: None)(module)
    if text is None:
        raise OSError(f"The source of {module} is not here.")
    return str(text)


def file_of(module: str) -> str | None:
    """The file of a module, loaded or not; None where it has none, as modules that are built into Python.

    >>> str(file_of("json.decoder")).endswith("decoder.py"), file_of("sys")
    (True, None)
    """
    if module in sys.modules:
        return getattr(sys.modules[module], "__file__", None)
    spec = _spec(module)
    return spec.origin if spec.has_location else None


def _is_empty(module: str) -> bool:
    """Whether a module has a file with nothing in it, as many packages have, which `inspect` takes for no source."""
    file = file_of(module)
    return file is not None and os.path.isfile(file) and os.path.getsize(file) == 0


def _spec(module: str) -> ModuleSpec:
    """Where a module would be loaded from: its packages are looked at, and not imported."""
    first, *inner = module.split(".")
    spec = PathFinder.find_spec(first, [*sys.path, *(finder.folder for finder in _finders())])
    name = first
    for part in inner:
        name = f"{name}.{part}"
        spec = PathFinder.find_spec(name, list(spec.submodule_search_locations or ())) if spec else None
    if spec is None:
        raise ImportError(f"There is no module {module}.")
    return spec
