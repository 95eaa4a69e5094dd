"""Hostile variants of a file's bytes, drawn from a seed: `python -m tests.security.fuzz` runs as many as one likes."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator

import numpy as np

from tests.security.harness import Payload

Change = Callable[[bytes, np.random.Generator], bytes]


def flip(data: bytes, rng: np.random.Generator) -> bytes:
    """Some bits turned."""
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 9))):
        out[int(rng.integers(len(out)))] ^= 1 << int(rng.integers(8))
    return bytes(out)


def cut(data: bytes, rng: np.random.Generator) -> bytes:
    """The end missing."""
    return data[: int(rng.integers(len(data)))]


def doubled(data: bytes, rng: np.random.Generator) -> bytes:
    """A piece of it twice."""
    a, b = sorted(rng.integers(0, len(data), 2).tolist())
    return data[:b] + data[a:]


def splice(data: bytes, rng: np.random.Generator) -> bytes:
    """Noise in the middle."""
    at = int(rng.integers(len(data)))
    return data[:at] + rng.bytes(int(rng.integers(1, 64))) + data[at:]


BYTES: tuple[Change, ...] = (flip, cut, doubled, splice)


def archives(rng: np.random.Generator) -> Iterator[tuple[str, bytes]]:
    """Archives that are valid as such and hold what no evidence does."""
    member = rng.random((30, 4)) < 0.5
    signal = rng.normal(size=(30, 4))
    odd = {
        "object": np.array([[Payload()] * 4] * 30, dtype=object),
        "structured": np.zeros((30, 4), dtype=[("a", "f8"), ("b", "i4")]),
        "text": np.full((30, 4), "x"),
        "dates": np.zeros((30, 4), dtype="datetime64[s]"),
        "scalar": np.float64(3),
        "three": np.zeros((30, 4, 2)),
        "nan": np.full((30, 4), np.nan),
        "complex": signal * 1j,
        "empty": np.zeros((0, 0)),
    }
    for name, array in odd.items():
        for place in ("loss", "member", "targets", "oriented", "observed/loss", "record_weight", "signals"):
            arrays = {"member": member, "loss": np.abs(signal), place: array}
            if place in ("targets", "record_weight"):
                arrays |= {"shadows": ~np.eye(4, dtype=bool), "scored": np.ones((30, 4), dtype=bool)}
                arrays.setdefault("targets", np.arange(4))
            file = io.BytesIO()
            np.savez(file, **arrays)
            yield f"{place} is {name}", file.getvalue()
    yield "a member that is no array", _zip({"member.npy": _npy(member), "readme.txt": b"hello"})
    yield "a huge declared shape", _zip({"member.npy": _header("(1000000000, 1000000)") + b"x"})
    yield "a negative shape", _zip({"member.npy": _header("(-1, 4)") + b"x" * 8})
    yield "a deep header", _zip({"member.npy": _header("(" * 4000 + "1," + ")" * 4000)})
    yield "code in a header", _zip({"member.npy": _header("__import__('os').getpid()")})
    yield "the same name twice", _zip({"member.npy": _npy(member)}, twice="member.npy")
    yield "another compression", _zip({"member.npy": _npy(member), "loss.npy": _npy(signal)}, zipfile.ZIP_BZIP2)
    yield "a name that climbs", _zip({"../member.npy": _npy(member)})


def _npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def _header(shape: str) -> bytes:
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + min(len(text), 65535).to_bytes(2, "little") + text


def _zip(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED, twice: str = "") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        if twice:
            import warnings

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                archive.writestr(twice, files[twice])
    return file.getvalue()
