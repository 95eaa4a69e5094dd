"""Arrays that all tasks of a run read: published once, named in each task, mapped or fetched once by each worker."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from jali import stopping
from jali.core.errors import JaliError
from jali.parallel.engines import HERE, Engine

Arrays = dict[str, npt.NDArray[Any]]
MEMORY = Path("/dev/shm")
LARGE = 200_000_000  # bytes from which on arrays are shared in files on a disk


class Place(Protocol):
    """Where arrays are published so that every worker can read them; a `jali.store.Store` is one."""

    def publish(self, arrays: Mapping[str, npt.NDArray[Any]]) -> str:
        """Write arrays once; the name they are published under."""

    def published(self, folder: str, names: Iterable[str]) -> Arrays:
        """The arrays that were published under a name, read-only."""

    def withdraw(self, folder: str) -> None:
        """Remove the arrays of a name."""


class Ref(Protocol):
    """Arrays that all tasks of a run read; a task carries the reference, not the arrays."""

    def read(self) -> Arrays:
        """The arrays by name, read-only."""


@dataclass(frozen=True)
class Here:
    """Arrays of this process."""

    arrays: Arrays = field(repr=False)

    def read(self) -> Arrays:
        """The arrays by name."""
        return self.arrays


@dataclass(frozen=True)
class Mapped:
    """Arrays in files that every worker maps into its memory."""

    folder: str
    names: tuple[str, ...]

    def read(self) -> Arrays:
        """The arrays by name, read-only."""
        try:
            return {name: np.load(Path(self.folder) / f"{name}.npy", mmap_mode="r") for name in self.names}
        except FileNotFoundError:
            raise JaliError(
                f"A worker cannot read {self.folder}, where this run put its table: on several machines, give a store "
                "that all of them reach, as a folder (--out) or as a URL (--store)."
            ) from None


@dataclass(frozen=True)
class Published:
    """Arrays in a place that every worker reaches."""

    place: Place
    folder: str
    names: tuple[str, ...]

    def read(self) -> Arrays:
        """The arrays by name, read-only."""
        return self.place.published(self.folder, self.names)


@contextlib.contextmanager
def sharing(arrays: Mapping[str, npt.NDArray[Any]], engine: Engine = HERE, place: Place | None = None) -> Iterator[Ref]:
    """Share arrays with all tasks until the block is left: as they are in this process, else published once.

    place: where to publish for workers that may be on other machines; without one, a folder of temporary files.

    >>> from jali.parallel.engines import engine
    >>> with sharing({"x": np.arange(3)}, engine("processes", 2)) as ref:
    ...     print(ref.read()["x"].tolist())
    [0, 1, 2]
    """
    if engine.here:
        yield Here(dict(arrays))
    elif place is None or engine.local:
        with _in_memory(arrays) as ref:
            yield ref
    else:
        folder = place.publish(arrays)
        try:
            yield Published(place, folder, tuple(arrays))
        finally:
            place.withdraw(folder)


@contextlib.contextmanager
def _in_memory(arrays: Mapping[str, npt.NDArray[Any]]) -> Iterator[Ref]:
    """Files that exist in memory only, where the system has such a folder with room; nobody else may read them."""
    size = sum(array.nbytes for array in arrays.values())
    folder = tempfile.mkdtemp(prefix=f"jali-{stopping.run()}-", dir=MEMORY if _roomy(size) else None)
    try:
        with stopping.held(Path(folder)):
            for name, array in arrays.items():
                _save(Path(folder) / f"{name}.npy", array)
            yield Mapped(folder, tuple(arrays))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _roomy(size: int) -> bool:
    """Whether so many bytes go into memory: few, because what is in files there cannot be given back when it is full.

    Others are in files on a disk, which workers map; the system keeps in memory what is read often.
    """
    try:
        return size <= LARGE and os.access(MEMORY, os.W_OK) and size < shutil.disk_usage(MEMORY).free / 2
    except OSError:
        return False


def _save(path: Path, array: npt.NDArray[Any]) -> None:
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            np.save(file, array, allow_pickle=False)
    except OSError as error:
        raise JaliError(f"Cannot share the table with workers in {path.parent}: {error.strerror or error}.") from None


def sweep_killed() -> None:
    """Remove shared arrays that runs on this machine left behind because they were killed."""
    for folder in {MEMORY, Path(tempfile.gettempdir())}:
        for path in folder.glob("jali-*-*"):
            run = stopping.number(path.name.split("-")[1])
            if run and stopping.abandoned(path, run):
                shutil.rmtree(path, ignore_errors=True)
