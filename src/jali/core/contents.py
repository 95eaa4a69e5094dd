"""What decides the numbers of a user's own part and cannot be read in its specification or in a file of its code."""

from __future__ import annotations

import dataclasses
import functools
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jali.core import imports, own_modules


def untold(part: Any) -> str:
    """Why the results of a part cannot be known again by its specification, in words; empty if they can.

    A user's own part may hold an array or a fitted model, of which two may have one text. Its class may stand in a
    notebook, or in a file that was changed after this process began, so that nobody can tell which version is loaded.
    Our own parts say all in their specifications, and those inside them are looked at too.

    >>> untold([1.0, "a"])
    ''
    """
    return next(_reasons(part, ours=True, around=()), "")


def _reasons(value: Any, ours: bool, around: tuple[int, ...]) -> Iterator[str]:
    """Every reason; ours: whether the value is in a part of ours; around: the parts that it is in."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return
    if id(value) in around:
        yield f"{type(value).__name__} holds itself"
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _reasons(item, ours, (*around, id(value)))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        mine = of_jali(type(value).__module__)
        if not mine:
            yield from _of_class(value)
        for field in dataclasses.fields(value):
            yield from _reasons(getattr(value, field.name), mine, (*around, id(value)))
    elif not ours:
        yield f"a field holds {type(value).__name__}, of which a specification does not say all"


def _of_class(part: Any) -> Iterator[str]:
    """What the class of a user's own part leaves unsaid."""
    cls = type(part)
    fields = {field.name for field in dataclasses.fields(part)}
    if unnamed := sorted(set(getattr(part, "__dict__", {})) - fields):
        yield f"{cls.__name__} has {unnamed[0]!r}, which is no field"
    if not _has_file(cls):
        yield f"{cls.__name__} is not defined in a file"
    elif changed := next((m for m in sorted(own_modules.closure(cls.__module__)) if _changed(m)), ""):
        yield f"{changed} was changed after this process began"


def _has_file(cls: type) -> bool:
    try:
        return cls.__module__ != "__main__" and "<locals>" not in cls.__qualname__ and bool(_file(cls.__module__))
    except ImportError:
        return False


def _file(module: str) -> str:
    return imports.file_of(module) or ""


def _changed(module: str) -> bool:
    """Whether the file of a module is younger than this process, or gone."""
    try:
        return Path(_file(module)).stat().st_mtime > began()
    except OSError:
        return True


def of_jali(module: str) -> bool:
    """Whether a module is one of ours.

    >>> of_jali("jali.core.contents"), of_jali("jalisco")
    (True, False)
    """
    return module.partition(".")[0] == "jali"


@functools.cache
def began() -> float:
    """When this process began, in seconds since 1970; where the system does not tell, when this was first asked."""
    try:
        ticks = float(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        up = float(Path("/proc/uptime").read_text().split()[0])
        return time.time() - (up - ticks / os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, IndexError):
        return time.time()


began()  # asked at once, for systems that do not tell
