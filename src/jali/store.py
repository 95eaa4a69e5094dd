"""Artefacts by content key: one npz file each, written atomically, never pickle."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from jali import stopping
from jali.core.errors import JaliError

UNFINISHED = ".part"
BEGAN = "began"  # an empty file in a store; its time is that at which the last run began
DAY = 24 * 3600.0
Arrays = dict[str, npt.NDArray[Any]]


@contextlib.contextmanager
def atomic(path: Path) -> Iterator[IO[bytes]]:
    """Write a file whole or not at all.

    The bytes go to a temporary neighbour that replaces the file only when everything is on disk. The umask
    decides who may read it, as with any other file.
    """
    name = path.with_name(f".{path.name}.{stopping.run()}.{secrets.token_hex(6)}{UNFINISHED}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    except OSError as error:
        raise JaliError(f"Cannot write {path}: {error.strerror or error}; choose a folder you may write to.") from None
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise


def sweep(folder: Path) -> None:
    """Remove unfinished files of this run's workers below a folder; no worker may be alive any more."""
    for path in folder.rglob(f".*.{stopping.run()}.*{UNFINISHED}"):
        path.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    with atomic(path) as file:
        file.write(text.encode())


def write_arrays(path: Path, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write named arrays atomically as compressed npz."""
    with atomic(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=4) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def read_arrays(path: Path) -> Arrays:
    """Read named arrays; objects are refused."""
    try:
        with path.open("rb") as file:
            if file.read(2) != b"PK":
                raise ValueError("it is not a zip archive")
            file.seek(0)
            with np.load(file, allow_pickle=False) as arrays:
                return {name: arrays[name] for name in arrays.files}
    except FileNotFoundError:
        raise JaliError(f"There is no file {path}.") from None
    except (OSError, ValueError, zipfile.BadZipFile, zlib.error, EOFError, KeyError) as error:
        raise JaliError(f"{path} is not a readable npz file of plain arrays: {error}.") from None


@dataclass(frozen=True)
class Entry:
    """An artefact in a store: its file, its size, and when it was last read or written (seconds since 1970)."""

    path: Path
    bytes: int
    used: float


@dataclass(frozen=True)
class Store:
    """A folder of artefacts by content key; the access time of a file is that of its last use.

    >>> import tempfile
    >>> store = Store(Path(tempfile.mkdtemp()))
    >>> store.save("abc", {"x": np.arange(3)})
    >>> store.load("abc")["x"], store.load("abd")
    (array([0, 1, 2]), None)
    """

    root: Path

    def path(self, key: str) -> Path:
        """The file of an artefact."""
        return self.root / key[:2] / f"{key}.npz"

    def save(self, key: str, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Keep an artefact."""
        write_arrays(self.path(key), arrays)

    def load(self, key: str) -> Arrays | None:
        """The artefact, or None where there is none or it is damaged."""
        path = self.path(key)
        if not path.exists():
            return None
        try:
            arrays = read_arrays(path)
        except JaliError:
            return None
        with contextlib.suppress(OSError):  # a store may be read-only, or be pruned at this moment
            os.utime(path, ns=(time.time_ns(), path.stat().st_mtime_ns))
        return arrays

    def begin(self) -> None:
        """Note that a run begins, so that it is known later which artefacts it used."""
        with atomic(self.root / BEGAN):
            pass

    def entries(self) -> list[Entry]:
        """All artefacts, the one that was not used for the longest time first."""
        found = []
        for path in self.root.glob("??/*.npz"):
            with contextlib.suppress(FileNotFoundError):
                state = path.stat()
                found.append(Entry(path, state.st_size, max(state.st_atime, state.st_mtime)))
        return sorted(found, key=lambda entry: (entry.used, entry.path))

    def unused(self) -> list[Entry]:
        """Artefacts that the last run neither read nor wrote; none if no run is known."""
        began = self.root / BEGAN
        return self._before(began.stat().st_mtime) if began.exists() else []

    def older(self, days: float) -> list[Entry]:
        """Artefacts that were not used for this many days."""
        return self._before(time.time() - days * DAY)

    def _before(self, moment: float) -> list[Entry]:
        return [entry for entry in self.entries() if entry.used < moment]


def remove(entries: Iterable[Entry]) -> None:
    """Remove artefacts, and folders that are empty then; a run that needs one of them makes it again."""
    for entry in entries:
        entry.path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # others are left in it
            entry.path.parent.rmdir()
