"""What `jali data` lists: every data set, and whether its files are there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from jali import parts
from jali.data import _files


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
    """Every built-in data set by name; a table of the user's own is not one of them.

    >>> [entry.state for entry in catalogue() if entry.name == "digits"]
    ['embedded']
    """
    return [_entry(name, parts.build("data", name)) for name in parts.names("data") if name != "table"]


def _entry(name: str, source: Any) -> Entry:
    if not source.files:
        return Entry(name, "embedded", source.origin, source.licence)
    absent = [remote for remote in source.files if not _files.find(remote)]
    if absent:
        return Entry(name, "missing", source.origin, source.licence, advice=_files.advice(absent[0]))
    return Entry(name, "present", source.origin, source.licence, where=str(_files.locate(source.files[0]).parent))
