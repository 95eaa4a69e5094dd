"""Where a store keeps its files: a folder, or a URL that fsspec knows (ftp, sftp, s3, gs, memory, ...)."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np
import numpy.typing as npt

from jali.core.errors import JaliError
from jali.core.files import opened
from jali.store.files import atomic, unfinished


class Files(Protocol):
    """Files by name; a name may have folders in it, divided by slashes."""

    def writing(self, name: str) -> contextlib.AbstractContextManager[IO[bytes]]:
        """Write a file whole or not at all."""

    def reading(self, name: str) -> contextlib.AbstractContextManager[IO[bytes]]:
        """Read a file; FileNotFoundError where there is none."""

    def has(self, name: str) -> bool:
        """Whether there is such a file."""

    def make_private(self, folder: str) -> None:
        """Make a folder that only its user may read, where the place has users."""

    def mapped(self, name: str) -> npt.NDArray[Any]:
        """The array of a .npy file, mapped into memory and read-only."""

    def remove(self, folder: str) -> None:
        """Remove a folder with its files."""


@dataclass(frozen=True)
class Folder:
    """Files in a folder that this machine and all workers see under the same path."""

    root: Path

    def writing(self, name: str) -> contextlib.AbstractContextManager[IO[bytes]]:
        """Write a file whole or not at all."""
        return atomic(self.root / name)

    @contextlib.contextmanager
    def reading(self, name: str) -> Iterator[IO[bytes]]:
        """Read a file, and note in its access time that it was used."""
        path = self.root / name
        with opened(path) as file:
            yield file
        with contextlib.suppress(OSError):  # a store may be read-only, or be pruned at this moment
            os.utime(path, ns=(time.time_ns(), path.stat().st_mtime_ns))

    def has(self, name: str) -> bool:
        """Whether there is such a file."""
        return (self.root / name).exists()

    def make_private(self, folder: str) -> None:
        """Make a folder that only its user may read."""
        try:
            (self.root / folder).parent.mkdir(parents=True, exist_ok=True)
            (self.root / folder).mkdir(mode=0o700)
        except OSError as error:
            raise JaliError(f"Cannot write to the store {self.root}: {error.strerror or error}.") from None

    def mapped(self, name: str) -> npt.NDArray[Any]:
        """The array of a .npy file, mapped into memory and read-only."""
        opened(self.root / name).close()
        found: npt.NDArray[Any] = np.load(self.root / name, mmap_mode="r", allow_pickle=False)
        return found

    def remove(self, folder: str) -> None:
        """Remove a folder with its files."""
        shutil.rmtree(self.root / folder, ignore_errors=True)


@dataclass(frozen=True)
class Remote:
    """Files at a URL; credentials are those that fsspec finds in its configuration or in the environment."""

    url: str

    @property
    def system(self) -> tuple[Any, str]:
        """The file system of the URL, connected once per process and thread, and the path in it."""
        return _system(self.url, os.getpid(), threading.get_ident())

    @contextlib.contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """Write a file whole or not at all: under another name first, because not every protocol writes atomically."""
        system, root = self.system
        folder, _, last = f"{root}/{name}".rpartition("/")
        path = f"{folder}/{unfinished(last)}"
        _make(system, folder)
        with tempfile.TemporaryFile() as file:  # a zip archive is not written from its beginning to its end
            yield file
            file.seek(0)
            with system.open(path, "wb") as there:
                shutil.copyfileobj(file, there, 1 << 20)
        system.mv(path, f"{folder}/{last}")

    @contextlib.contextmanager
    def reading(self, name: str) -> Iterator[IO[bytes]]:
        """Read a file."""
        system, root = self.system
        with tempfile.TemporaryFile() as file:
            with system.open(f"{root}/{name}", "rb") as there:
                shutil.copyfileobj(there, file, 1 << 20)
            file.seek(0)
            yield file

    def has(self, name: str) -> bool:
        """Whether there is such a file."""
        system, root = self.system
        return bool(system.exists(f"{root}/{name}"))

    def make_private(self, folder: str) -> None:
        """Do nothing: who may read is decided where the store is."""

    def mapped(self, name: str) -> npt.NDArray[Any]:
        """The array of a .npy file, fetched once by each process."""
        return _fetched(self, name)

    def remove(self, folder: str) -> None:
        """Remove a folder with its files."""
        system, root = self.system
        with contextlib.suppress(FileNotFoundError):
            system.rm(f"{root}/{folder}", recursive=True)


def _make(system: Any, folder: str) -> None:
    """Make a folder and those around it; where another worker makes one at the same moment, some protocols refuse."""
    for again in (True, True, False):
        try:
            system.makedirs(folder, exist_ok=True)
        except Exception:  # every protocol has its own
            system.invalidate_cache()
            if system.isdir(folder):
                return
            if not again:
                raise
        else:
            return


@lru_cache(maxsize=16)  # the arrays of two runs
def _fetched(files: Remote, name: str) -> npt.NDArray[Any]:
    """The array of a .npy file at a URL, mapped from a copy that goes when the array does."""
    folder = tempfile.mkdtemp(prefix="jali-")
    try:
        copy = Path(folder) / "array.npy"
        with files.reading(name) as file, copy.open("wb") as here:
            shutil.copyfileobj(file, here, 1 << 20)
        found: npt.NDArray[Any] = np.load(copy, mmap_mode="r", allow_pickle=False)
        return found
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # what is mapped stays readable


@lru_cache(maxsize=8)
def _system(url: str, process: int, thread: int) -> tuple[Any, str]:  # noqa: ARG001 (two cannot share a connection)
    try:
        import fsspec
    except ImportError:
        raise JaliError("A store at a URL needs another library: pip install 'jali-audit[fsspec]'.") from None
    try:
        system, root = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise JaliError(f"fsspec cannot open {url.partition('://')[0]}://: {error}.") from None
    return system, str(root).rstrip("/")
