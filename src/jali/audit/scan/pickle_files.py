"""Pickle and joblib files, read without running anything in them."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import math
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np

from jali.audit.scan.pickle_machine import Machine, Made
from jali.audit.scan.pickle_values import array_of, dtype_of, width_of
from jali.core.errors import JaliError

MOST = 1 << 31  # bytes of a file after decompression
WRAPPER = "joblib.numpy_pickle.NumpyArrayWrapper"
PACKED: tuple[tuple[bytes, Any], ...] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ", lzma.open),
    (b"\x5d\x00", lzma.open),
)


def read(path: Path) -> tuple[Any, set[str]]:
    """The value in a pickle or joblib file, plain or compressed, and the names of all globals in it."""
    return read_bytes(content(path))


def read_bytes(data: bytes) -> tuple[Any, set[str]]:
    """The value in a pickle, and the names of all globals in it."""
    machine = Machine(io.BytesIO(data), _inline)
    return machine.run(), machine.names


def content(path: Path) -> bytes:
    """The bytes of a file after decompression; refuses what is too large."""
    with path.open("rb") as file:
        start = file.read(6)
    if start[:1] == b"\x78":  # zlib
        return _inflated(path)
    opened: Any = next((unpack for mark, unpack in PACKED if start.startswith(mark)), open)
    try:
        with opened(path, "rb") as file:
            data: bytes = file.read(MOST + 1)
    except (OSError, EOFError, lzma.LZMAError, zlib.error, MemoryError) as error:
        raise JaliError(f"It cannot be decompressed ({error}).") from None
    return _bounded(data)


def _inflated(path: Path) -> bytes:
    unpack = zlib.decompressobj()
    try:
        return _bounded(unpack.decompress(path.read_bytes(), MOST + 1))
    except zlib.error as error:
        raise JaliError(f"It cannot be decompressed ({error}).") from None


def _bounded(data: bytes) -> bytes:
    if len(data) > MOST:
        raise JaliError(f"It holds more than {MOST >> 30} GB.")
    return data


def _inline(made: Made, stream: IO[bytes]) -> None:
    """An array that joblib keeps right behind the opcodes of its wrapper: padding, then its bytes or its objects."""
    if made.name != WRAPPER or not isinstance(made.state, dict):
        return
    kind = dtype_of(made.state.get("dtype"))
    width = width_of(made.state.get("dtype"))
    shape = made.state.get("shape")
    if width is None or not isinstance(shape, tuple) or not all(isinstance(n, int) and n >= 0 for n in shape):
        raise JaliError("It holds an array of a kind that is not read.")
    if kind is not None and kind.hasobject:
        inner = Machine(stream, _inline).run()
        made.value = array_of(inner) if isinstance(inner, Made) else None
        return
    if made.state.get("numpy_array_alignment_bytes") is not None:
        stream.read(int.from_bytes(stream.read(1), "little"))
    size = math.prod(shape) * width
    data = stream.read(size) if size <= MOST else b""
    if len(data) != size:
        raise JaliError("It declares an array that is larger than the file.")
    if kind is not None:  # bytes of other kinds, such as dates or records, are passed over
        made.value = np.frombuffer(data, dtype=kind).reshape(
            shape, order="F" if made.state.get("order") == "F" else "C"
        )
