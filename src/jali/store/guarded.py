"""A store for results of a file that is mapped while it is used, and that somebody may write to meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt

from jali.store.artefacts import Store

State = tuple[int, int, int]


@dataclass(frozen=True)
class Guarded(Store):
    """The same artefacts; none is kept once the file has changed, because it could be of two versions of the file."""

    file: Path = Path()
    state: State = (0, 0, 0)

    @classmethod
    def by(cls, store: Store, file: Path) -> Guarded:
        """A store that is guarded from now on."""
        return cls(store.root, store.secret, file, state_of(file))

    def save(self, key: str, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Keep an artefact, unless the file has changed."""
        if state_of(self.file) == self.state:
            super().save(key, arrays)


def state_of(file: Path) -> State:
    """What changes when a file is written to or replaced: its size, its time and its number; zeros where it is gone."""
    try:
        found = file.stat()
    except OSError:
        return (0, 0, 0)
    return (found.st_size, found.st_mtime_ns, found.st_ino)
