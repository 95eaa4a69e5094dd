"""A store for results that depend on files which somebody may change meanwhile: mapped evidence, a user's code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt

from jali import stopping
from jali.store.artefacts import Store

State = tuple[int, int, int]


@dataclass(frozen=True)
class Guarded(Store):
    """The same artefacts; none is kept once a file has changed, because it could be of two versions of the file.

    states: the files, and how they were when this began. on: the machine that they are on; others have their own.
    """

    states: tuple[tuple[Path, State], ...] = ()
    on: str = ""

    @classmethod
    def by(cls, store: Store, files: Iterable[Path]) -> Guarded:
        """A store that is guarded from now on, beside what guards it already."""
        before = store.states if isinstance(store, Guarded) else ()
        known = {path for path, _ in before}
        more = ((path, state_of(path)) for path in sorted(file.absolute() for file in files) if path not in known)
        return cls(store.root, store.secret, (*before, *more), stopping.machine())

    def save(self, key: str, arrays: Mapping[str, npt.NDArray[Any]]) -> bool:
        """Keep an artefact, unless a file has changed; whether it was kept."""
        here = stopping.machine() == self.on
        if here and any(state_of(path) != state for path, state in self.states):
            return False
        return super().save(key, arrays)


def state_of(file: Path) -> State:
    """What changes when a file is written to or replaced: its size, its time and its number; zeros where it is gone."""
    try:
        found = file.stat()
    except OSError:
        return (0, 0, 0)
    return (found.st_size, found.st_mtime_ns, found.st_ino)
