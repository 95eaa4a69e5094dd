"""Files that are replaced whole or not at all, alone or as a set, and arrays in them; objects are never unpickled."""

from __future__ import annotations

import contextlib
import io
import math
import os
import secrets
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from jali import stopping
from jali.core.errors import JaliError
from jali.core.files import opened

UNFINISHED = ".part"
Arrays = dict[str, npt.NDArray[Any]]
Take = Callable[[zipfile.ZipFile, zipfile.ZipInfo], npt.NDArray[Any]]
GIGABYTE = 1e9
MOST = 8 * GIGABYTE  # of arrays in one file that somebody may have sent, unless said otherwise
PLAIN = "biufUS"  # kinds of arrays that hold numbers, yes or no, or text
LARGE = 10_000_000  # bytes of an array from which on it is asked whether compression is worth its time
SAMPLE = 200_000  # bytes of it that are tried
HEADER = 10_000  # characters of the header of an array
# A damaged or hostile file can fail in any way: in the archive, in its compression, in the header of an array.
UNREADABLE = (Exception,)
Waiting = list[tuple[Path, Path]]


class NoRoomError(JaliError):
    """There is no room to unpack a file."""


_together: ContextVar[Waiting | None] = ContextVar("together", default=None)  # files that wait for others


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
    waiting = _together.get()
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if waiting is None:
            os.replace(name, path)
        else:
            waiting.append((name, path))
    except OSError as error:
        _unlink(name)
        raise JaliError(f"Cannot write {path}: {error.strerror or error}; nothing was changed.") from None
    except BaseException:
        _unlink(name)
        raise


@contextlib.contextmanager
def together() -> Iterator[None]:
    """Files that are written in this block replace those that were there when all of them are on disk, or none does.

    Inside another such block, they wait for the files of that one, too.
    """
    if _together.get() is not None:
        yield
        return
    waiting: Waiting = []
    token = _together.set(waiting)
    try:
        yield
        for _, path in waiting:
            if path.is_dir():
                raise JaliError(f"Cannot write {path}: a folder of that name is in the way; nothing was changed.")
        with stopping.undisturbed():
            for name, path in waiting:
                os.replace(name, path)
    except OSError as error:
        raise JaliError(f"Cannot write {error.filename2 or error.filename}: {error.strerror}.") from None
    finally:
        _together.reset(token)
        for name, _ in waiting:
            _unlink(name)


def _unlink(path: Path) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def unfinished(name: str) -> str:
    """The name of a file while it is written: no two writers have the same, and machine and run can be told from it."""
    return f".{name}.{stopping.machine()}-{stopping.run()}.{secrets.token_hex(6)}{UNFINISHED}"


def sweep(folder: Path) -> None:
    """Remove unfinished files of this run's workers below a folder; no worker may be alive any more."""
    for path in folder.rglob(f".*.{stopping.machine()}-{stopping.run()}.*{UNFINISHED}"):
        path.unlink(missing_ok=True)


def sweep_killed(folder: Path) -> None:
    """Remove files that runs on this machine left unfinished because they were killed."""
    mark = f"{stopping.machine()}-"
    for path in folder.rglob(f".*.{mark}*{UNFINISHED}"):
        run = stopping.number(path.name.split(mark)[-1].partition(".")[0])
        if run and not stopping.alive(run):
            path.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically, in UTF-8; what it cannot hold, such as odd bytes of a file's name, becomes "?"."""
    with atomic(path) as file:
        file.write(text.encode(errors="replace"))


def write_arrays(path: Path, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write named arrays atomically as compressed npz."""
    with atomic(path) as file:
        pack(file, arrays)


def pack(file: IO[bytes], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write named arrays into an open file as npz; large ones of random digits, which only cost time, uncompressed."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in arrays.items():
            archive.compression = zipfile.ZIP_DEFLATED if _shrinks(array) else zipfile.ZIP_STORED
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def packed(arrays: Mapping[str, npt.NDArray[Any]]) -> IO[bytes]:
    """Named arrays as an npz file to be read and closed: in memory, or where they are large on the disk, unnamed."""
    large = sum(array.nbytes for array in arrays.values()) >= LARGE
    file: IO[bytes] = tempfile.TemporaryFile(prefix="jali-") if large else io.BytesIO()  # noqa: SIM115
    pack(file, arrays)
    return file


def _shrinks(array: npt.NDArray[Any]) -> bool:
    """Whether compression takes off a tenth of an array, by a sample from its middle; small ones are not looked at."""
    if array.nbytes < LARGE:
        return True
    flat = array.reshape(-1) if array.flags.c_contiguous else array.ravel()
    middle = flat[len(flat) // 2 :][: SAMPLE // array.itemsize].tobytes()
    return len(zlib.compress(middle, 1)) < 0.9 * len(middle)


def as_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> npt.NDArray[Any]:
    """One array of an archive, whose header was checked, in memory."""
    with archive.open(member) as part:
        found: npt.NDArray[Any] = np.lib.format.read_array(part, allow_pickle=False, max_header_size=HEADER)
        return found


def unpack(file: IO[bytes], most: float = MOST, take: Take = as_array) -> Arrays:
    """Read named arrays from an open npz file, up to so many bytes; it raises one of `UNREADABLE`.

    Names, types and sizes are checked before anything is read: only plain arrays of numbers and text are, each as large
    as its header says. take: how each is read then.
    """
    if file.read(2) != b"PK":
        raise ValueError("it is not a zip archive")
    file.seek(0)
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        names = [member.filename.removesuffix(".npy") for member in members]
        if len(set(names)) < len(names):
            raise ValueError("two arrays have the same name")
        total = sum(_declared(archive, member) for member in members)
        if total > most:
            raise JaliError(f"its arrays take {total / GIGABYTE:.3g} GB, and the limit is {most / GIGABYTE:.3g} GB")
        return {name: take(archive, member) for name, member in zip(names, members, strict=True)}


def _declared(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> int:
    """The bytes of one array, by its header; raises if it is anything but a plain array."""
    name = member.filename
    if not name.endswith(".npy"):
        raise ValueError(f"it holds {name!r}, which is no array")
    if member.flag_bits & 1 or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{name!r} is encrypted or compressed in an unusual way")
    with archive.open(member) as part:
        version = np.lib.format.read_magic(part)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"{name!r} has an array format of version {version[0]}.{version[1]}")
        first = version == (1, 0)
        header = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
        shape, _, dtype = header(part, max_header_size=HEADER)
        begins = part.tell()
    if dtype.kind not in PLAIN or dtype.hasobject:
        raise ValueError(f"{name!r} holds {dtype}, not plain numbers or text")
    size = math.prod(shape) * dtype.itemsize
    if any(n < 0 for n in shape) or size != member.file_size - begins:
        raise ValueError(f"{name!r} declares {size} bytes and has {member.file_size - begins}")
    return size


def read_arrays(path: Path, most: float = MOST, take: Take = as_array) -> Arrays:
    """Read named arrays, up to so many bytes; objects are refused."""
    try:
        with opened(path) as file:
            return unpack(file, most, take)
    except FileNotFoundError:
        raise JaliError(f"There is no file {path}.") from None
    except IsADirectoryError:
        raise JaliError(f"{path} is a folder; an npz file was expected.") from None
    except NoRoomError:
        raise
    except JaliError as error:
        raise JaliError(f"{path} is too large: {error}; raise it with --max-gb if you trust the file.") from None
    except OSError as error:
        raise JaliError(f"Cannot read {path}: {error.strerror or error}.") from None
    except UNREADABLE as error:
        raise JaliError(f"{path} is not a readable npz file of plain arrays: {error}.") from None
