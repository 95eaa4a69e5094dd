"""What decides the numbers of a user's own part and cannot be read in its specification or in a file of its code."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
import time
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from jali.core import imports, own_modules, registry

PLAIN = (str, bytes, bool, int, float, np.generic, Path, Enum)
STEPS = ("load", "draw", "fit", "prepare", "explain", "score", "run", "know", "__call__")  # what parts do
LIBRARIES = ("builtins", "numpy", "pandas", "scipy")  # tables of ours, which are sent and not stored


def untold(part: Any) -> str:
    """Why the results of a part cannot be known again by its specification, in words; empty if they can.

    A user's own part may hold an array or a fitted model, of which two may have one text. Its class may stand in a
    notebook, or in a file that was changed after this process began, so that nobody can tell which version is loaded.
    Our own parts say all in their specifications, and those inside them are looked at too.

    >>> untold([1.0, "a"])
    ''
    """
    return next(_reasons(part, ours=True, around=()), "")


def files(part: Any) -> set[Path]:
    """The files of a user's own code behind a part.

    >>> files([1.0, "a"])
    set()
    """
    found = set().union(*(own_modules.closure(module) for module in registry.modules(part)), set())
    return {Path(file) for file in map(imports.file_of, found) if file}


def _reasons(value: Any, ours: bool, around: tuple[int, ...]) -> Iterator[str]:
    """Every reason; ours: whether the value is in a part of ours; around: the values that it is in."""
    if value is None or isinstance(value, PLAIN):
        return
    if id(value) in around:
        yield f"{type(value).__name__} holds itself"
    elif isinstance(value, (list, tuple, set, frozenset, dict)):
        for item in (*value.keys(), *value.values()) if isinstance(value, dict) else value:
            yield from _reasons(item, ours, (*around, id(value)))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        mine = of_jali(type(value).__module__)
        if not mine:
            yield from _of_class(value)
        for field in dataclasses.fields(value):
            yield from _reasons(getattr(value, field.name), mine, (*around, id(value)))
    elif not ours or _is_part(value):
        yield f"a field holds {type(value).__name__}, of which a specification does not say all"


def _is_part(value: Any) -> bool:
    """Whether an object in a part of ours is one too, without being a dataclass: then its text is what it likes."""
    library = type(value).__module__.partition(".")[0]
    return library not in LIBRARIES and any(hasattr(type(value), step) for step in STEPS)


def _of_class(part: Any) -> Iterator[str]:
    """What the class of a user's own part leaves unsaid."""
    cls = type(part)
    fields = {field.name for field in dataclasses.fields(part)}
    if unnamed := [n for n in sorted(set(getattr(part, "__dict__", {})) - fields) if not _is_cached(cls, n)]:
        yield f"{cls.__name__} has {unnamed[0]!r}, which is no field"
    in_file = cls.__module__ != "__main__" and "<locals>" not in cls.__qualname__
    if not in_file or registry.source(cls.__module__) == registry.RUN:
        yield f"the source of {cls.__name__} is in no file"
    elif changed := next((m for m in sorted(own_modules.closure(cls.__module__)) if _changed(m)), ""):
        yield f"{changed} was changed after this process began"


def _is_cached(cls: type, name: str) -> bool:
    """Whether a value beside the fields is computed from these when it is first asked for."""
    return isinstance(inspect.getattr_static(cls, name, None), functools.cached_property)


def _changed(module: str) -> bool:
    """Whether the file of a module, or its entry in a folder, is younger than this process, or gone."""
    try:
        found = Path(imports.file_of(module) or "").stat()
    except OSError:
        return True
    return max(found.st_mtime, found.st_ctime) > began()


def of_jali(module: str) -> bool:
    """Whether a module is one of ours.

    >>> of_jali("jali.core.contents"), of_jali("jalisco")
    (True, False)
    """
    return module.partition(".")[0] == "jali"


@functools.cache
def began() -> float:
    """When this process began, in seconds since 1970; where the system does not tell, when this was first asked."""
    now = time.time()
    try:
        ticks = float(Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19])
        since_boot = time.clock_gettime(time.CLOCK_BOOTTIME)
    except (OSError, ValueError, IndexError, AttributeError):
        return now
    return min(now, now - (since_boot - ticks / os.sysconf("SC_CLK_TCK")))


began()  # asked at once, for systems that do not tell
