"""The list that `jali data` shows: every data set, and whether its files are present."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from jali.core import registry
from jali.core.errors import JaliError
from jali.data.tables import files

State = Literal["embedded", "present", "missing"]


@dataclass(frozen=True)
class Entry:
    """One data set: its origin, the folder of its files (empty if they are missing), and how to get them."""

    name: str
    state: State
    origin: str
    licence: str
    where: str = ""
    advice: str = ""


def catalogue() -> list[Entry]:
    """Every data set that needs no parameters; the user's own table and data sets derived from another are left out.

    >>> [entry.state for entry in catalogue() if entry.name == "digits"]
    ['embedded']
    """
    return [_entry(name, source) for name in registry.names("data") for source in _built(name)]


def _built(name: str) -> list[Any]:
    """The data set of a name, in a list; an empty list where it has required parameters."""
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
    folder = files.locate(source.files[0]).parent
    state: State = "embedded" if folder.is_relative_to(files.EMBEDDED) else "present"
    return Entry(name, state, source.origin, source.licence, where=str(folder))
