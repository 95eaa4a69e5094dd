"""What `jali data` lists: every data set, and whether its files are there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from jali.core import registry
from jali.core.errors import JaliError
from jali.data.tables import files


@dataclass(frozen=True)
class Entry:
    """One data set: where it comes from, where it lies (a folder, empty if nowhere), and what to do to get it."""

    name: str
    state: Literal["embedded", "present", "missing"]
    origin: str
    licence: str
    where: str = ""
    advice: str = ""


def catalogue() -> list[Entry]:
    """Every data set its name alone settles; a table of the user's own, or a part that wraps another, is none.

    >>> [entry.state for entry in catalogue() if entry.name == "digits"]
    ['embedded']
    """
    return [_entry(name, source) for name in registry.names("data") for source in _settled(name)]


def _settled(name: str) -> list[Any]:
    """The data set of a name, or nothing where it must be told more: a file, the data set it wraps."""
    try:
        return [registry.build("data", name)]
    except JaliError:
        return []


def _entry(name: str, source: Any) -> Entry:
    if not source.files:
        return Entry(name, "embedded", source.origin, source.licence)
    absent = [remote for remote in source.files if not files.find(remote)]
    if absent:
        return Entry(name, "missing", source.origin, source.licence, advice=files.advice(absent[0]))
    return Entry(name, "present", source.origin, source.licence, where=str(files.locate(source.files[0]).parent))
