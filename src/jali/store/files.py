"""Files that are replaced whole or not at all, and arrays in them; objects are never unpickled."""

from __future__ import annotations

import contextlib
import os
import secrets
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from jali import stopping
from jali.core.errors import JaliError

UNFINISHED = ".part"
Arrays = dict[str, npt.NDArray[Any]]
UNREADABLE = (OSError, ValueError, zipfile.BadZipFile, zlib.error, EOFError, KeyError)


@contextlib.contextmanager
def atomic(path: Path) -> Iterator[IO[bytes]]:
    """Write a file whole or not at all.

    The bytes go to a temporary neighbour that replaces the file only when everything is on disk. The umask
    decides who may read it, as with any other file.
    """
    name = path.with_name(unfinished(path.name))
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


def unfinished(name: str) -> str:
    """The name of a file while it is written: no two writers have the same, and the run can be told from it."""
    return f".{name}.{stopping.run()}.{secrets.token_hex(6)}{UNFINISHED}"


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
    with atomic(path) as file:
        pack(file, arrays)


def pack(file: IO[bytes], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write named arrays into an open file as compressed npz."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=4) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def unpack(file: IO[bytes]) -> Arrays:
    """Read named arrays from an open npz file; objects are refused. It raises one of `UNREADABLE`."""
    if file.read(2) != b"PK":
        raise ValueError("it is not a zip archive")
    file.seek(0)
    with np.load(file, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


def read_arrays(path: Path) -> Arrays:
    """Read named arrays; objects are refused."""
    try:
        with path.open("rb") as file:
            return unpack(file)
    except FileNotFoundError:
        raise JaliError(f"There is no file {path}.") from None
    except UNREADABLE as error:
        raise JaliError(f"{path} is not a readable npz file of plain arrays: {error}.") from None
