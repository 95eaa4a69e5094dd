"""Large arrays that are mapped into memory: those of a file where they lie, others in a private temporary file.

The temporary file has no name: nobody else can open it, and the system removes it with the process, however that ends.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
import tempfile
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from jali.store.files import HEADER, MOST, Arrays, NoRoomError, as_array, read_arrays

SMALL = 4_000_000  # bytes of an array from which on it is mapped
PIECE = 1 << 20  # bytes that are copied at a time
LOCAL_HEADER = 30  # bytes before the name of a member of a zip archive


def map_arrays(path: Path, most: float = MOST) -> Arrays:
    """As `read_arrays`, with the same checks; large arrays are read-only maps.

    One that is stored as it is, is mapped where it lies; a compressed one is unpacked once. Both are read to their end
    first, so that a damaged archive is found.
    """
    return read_arrays(path, most, _mapped)


def scratch(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """An array of zeros to be filled: in memory if it is small, else mapped from a private temporary file.

    >>> scratch((2, 3), np.float64).sum()
    np.float64(0.0)
    """
    kind = np.dtype(dtype)
    size = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
    if size < SMALL:
        return np.zeros(shape, dtype=kind)
    with _temporary(size) as file:
        return np.memmap(file, dtype=kind, mode="r+", shape=shape)


def release(array: npt.NDArray[Any]) -> None:
    """Give back the memory that a map takes; it is read from its file again when it is needed. Others are left alone.

    A map whose changes are private ("c") would lose them, so it is left alone, too.
    """
    base: Any = array
    while isinstance(base, np.ndarray):
        if isinstance(base, np.memmap) and base.mode not in ("r", "r+"):
            return
        base = base.base
    if isinstance(base, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        base.madvise(mmap.MADV_DONTNEED)


def _temporary(size: int) -> IO[bytes]:
    """A private temporary file with room for so many bytes: a map of one without room would end the process."""
    file = tempfile.TemporaryFile(prefix="jali-")  # noqa: SIM115 (its map keeps it)
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            file.truncate(size)
    except OSError as error:
        file.close()
        raise NoRoomError(
            f"Cannot unpack {size / 1e9:.3g} GB into {tempfile.gettempdir()}: {error.strerror or error}; free some "
            "space there, or name another folder in the variable TMPDIR."
        ) from None
    return file


def _mapped(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> npt.NDArray[Any]:
    """One array of an archive, whose header was checked."""
    if member.file_size < SMALL or archive.fp is None:
        return as_array(archive, member)
    with archive.open(member) as part, contextlib.ExitStack() as opened:
        read = np.lib.format.read_array_header_1_0
        if np.lib.format.read_magic(part) == (2, 0):
            read = np.lib.format.read_array_header_2_0
        shape, by_column, dtype = read(part, max_header_size=HEADER)
        begins = part.tell()
        order: Any = "F" if by_column else "C"
        if member.compress_type == zipfile.ZIP_STORED:
            while part.read(PIECE):  # the last one checks the sum of the archive
                pass
            begins += _place(archive, member)
            return np.memmap(archive.fp, dtype=dtype, mode="r", shape=shape, offset=begins, order=order)
        file = opened.enter_context(_temporary(member.file_size - begins))
        while piece := part.read(PIECE):
            file.write(piece)
        file.flush()
        return np.memmap(file, dtype=dtype, mode="r", shape=shape, order=order)


def _place(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> int:
    """Where the bytes of a stored member begin: after its header, its name and further fields."""
    if archive.fp is None:
        raise ValueError("the archive is closed")
    archive.fp.seek(member.header_offset)
    name, more = struct.unpack("<HH", archive.fp.read(LOCAL_HEADER)[26:])
    return int(member.header_offset + LOCAL_HEADER + name + more)
