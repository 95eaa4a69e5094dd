"""A store: artefacts by content key, and arrays that a run publishes for its workers."""

from __future__ import annotations

import contextlib
import io
import math
import re
import secrets
import stat
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from jali import stopping
from jali.core.errors import JaliError
from jali.store.files import UNREADABLE, Arrays, atomic, packed, sweep_killed, unpack
from jali.store.places import Files, Folder, Remote
from jali.store.secret import fits, sealed

BEGAN = "began"  # an empty file in a store; its time is that at which the last run began
SHARED = "shared"  # what runs publish, each in a folder of its own that goes with the run
NAMED = re.compile(r"[0-9a-f]{40,64}")  # a content key; other files in a store are somebody else's
DAY = 24 * 3600.0
FORGOTTEN = 7  # days after which no run that published something is still running


@dataclass(frozen=True)
class Entry:
    """An artefact in a store: its file, its size, and when it was last read or written (seconds since 1970)."""

    path: Path
    bytes: int
    used: float


@dataclass(frozen=True)
class Store:
    """Artefacts by content key, in a folder or at a URL; in a folder, access times are those of the last use.

    Artefacts are sealed with a secret. One whose seal does not fit is treated as absent: it is damaged, or somebody
    else made it. The secret goes with the store to workers.

    >>> import tempfile
    >>> store = Store(Path(tempfile.mkdtemp()))
    >>> store.save("abc", {"x": np.arange(3)})
    True
    >>> store.load("abc")["x"], store.load("abd"), store.has("abd")
    (array([0, 1, 2]), None, False)
    """

    root: Path | str
    secret: bytes = field(default=b"", repr=False)

    @property
    def files(self) -> Files:
        """The files of this store."""
        return Folder(self.root) if isinstance(self.root, Path) else Remote(self.root)

    @property
    def folder(self) -> Path:
        """The folder of this store; one at a URL has none."""
        if isinstance(self.root, Path):
            return self.root
        raise JaliError("This store is at a URL: list and remove its files with the tools of that place.")

    def path(self, key: str) -> Path:
        """The file of an artefact in a folder."""
        return self.folder / _file(key)

    def save(self, key: str, arrays: Mapping[str, npt.NDArray[Any]]) -> bool:
        """Keep an artefact, and whether it was kept; two that write the same one at once do no harm."""
        with _reachable(self), packed(arrays) as archive, self.files.writing(_file(key)) as file:
            for part in sealed(archive, key, self.secret):
                file.write(part)
        return True

    def load(self, key: str) -> Arrays | None:
        """The artefact, or None where there is none, it is damaged, or it was sealed with another secret."""
        try:
            with self.files.reading(_file(key)) as file:
                content = file.read()
            return unpack(io.BytesIO(content), math.inf) if fits(content, key, self.secret) else None
        except UNREADABLE:
            return None

    def has(self, key: str) -> bool:
        """Whether there is an artefact of this key; it may be damaged."""
        return self.files.has(_file(key))

    def publish(self, arrays: Mapping[str, npt.NDArray[Any]]) -> str:
        """Write arrays so that workers can map them; the name of the folder they are in."""
        folder = f"{SHARED}/{stopping.machine()}-{stopping.run()}-{secrets.token_hex(8)}"
        self.files.make_private(folder)
        for name, array in arrays.items():
            with _reachable(self), self.files.writing(f"{folder}/{name}.npy") as file:
                np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)
        return folder

    def published(self, folder: str, names: Iterable[str]) -> Arrays:
        """Arrays that were published, mapped into memory."""
        try:
            return {name: self.files.mapped(f"{folder}/{name}.npy") for name in names}
        except FileNotFoundError:
            where = "its folder" if isinstance(self.root, Path) else "its URL"
            raise JaliError(
                f"A worker does not find what this run published in its store: {where} must lead every machine to the "
                "same files. Give one that does, with --out or --store."
            ) from None

    def withdraw(self, folder: str) -> None:
        """Remove arrays that were published."""
        self.files.remove(folder)

    def begin(self) -> None:
        """Note that a run begins, so that it is known later which artefacts it used.

        What a run published that was killed is removed, because it is a copy of the table: at once if it ran on this
        machine, otherwise after a week.
        """
        if isinstance(self.root, Path):
            with atomic(self.root / BEGAN):
                pass
            sweep_killed(self.root)
            for folder in _folders(self.root / SHARED):
                if _left(folder):
                    self.withdraw(f"{SHARED}/{folder.name}")

    def entries(self) -> list[Entry]:
        """All artefacts, the one that was not used for the longest time first."""
        found = []
        for path in (path for folder in _folders(self.folder) for path in folder.glob("*.npz")):
            with contextlib.suppress(FileNotFoundError):
                state = path.lstat()
                if stat.S_ISREG(state.st_mode) and NAMED.fullmatch(path.stem) and path == self.path(path.stem):
                    found.append(Entry(path, state.st_size, max(state.st_atime, state.st_mtime)))
        return sorted(found, key=lambda entry: (entry.used, entry.path))

    def unused(self) -> list[Entry]:
        """Artefacts that the last run neither read nor wrote; none if no run is known."""
        began = self.folder / BEGAN
        return self._before(began.stat().st_mtime) if began.exists() else []

    def older(self, days: float) -> list[Entry]:
        """Artefacts that were not used for this many days."""
        return self._before(time.time() - days * DAY)

    def _before(self, moment: float) -> list[Entry]:
        return [entry for entry in self.entries() if entry.used < moment]


def _folders(place: Path) -> list[Path]:
    """The folders in a folder. Links are left out: they may lead to anything, and what is listed here gets removed."""
    if place.is_symlink() or not place.is_dir():
        return []
    return [path for path in place.iterdir() if path.is_dir() and not path.is_symlink()]


def _left(folder: Path) -> bool:
    """Whether the run that published a folder was killed, as far as this machine can tell."""
    machine, _, rest = folder.name.partition("-")
    run = stopping.number(rest.partition("-")[0])
    gone = machine == stopping.machine() and run > 0 and not stopping.alive(run)
    return gone or folder.stat().st_mtime < time.time() - FORGOTTEN * DAY


def _file(key: str) -> str:
    return f"{key[:2]}/{key}.npz"


@contextlib.contextmanager
def _reachable(store: Store) -> Any:
    """Say in one sentence that a store at a URL cannot be written to."""
    try:
        yield
    except (OSError, NotImplementedError) as error:
        if isinstance(store.root, Path):
            raise
        scheme = store.root.partition("://")[0]
        raise JaliError(f"Cannot write to the store at this {scheme} URL: {error or type(error).__name__}.") from None


def remove(entries: Iterable[Entry]) -> None:
    """Remove artefacts, and folders that are empty then; a run that needs one of them makes it again."""
    for entry in entries:
        entry.path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # others are left in it
            entry.path.parent.rmdir()
