"""Files by their kind: what is read of each, and why a file was not read."""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from jali.audit.scan import documents, pickle_files
from jali.audit.scan.pickle_machine import Made
from jali.audit.scan.pickle_values import array_of, roots
from jali.audit.scan.pieces import array_pieces
from jali.audit.scan.walk import Found, Walk
from jali.core.errors import JaliError
from jali.data.tables import frame_files

LONG = 300  # characters of a path that is repeated in a message
MOST = 1 << 30  # bytes of one file that is read as text, and of one array
TENSORS = {"F64": "f8", "F32": "f4", "F16": "f2", "I64": "i8", "I32": "i4", "I16": "i2", "I8": "i1", "U8": "u1"}
COMPRESSED = (".gz", ".bz2", ".xz", ".lzma", ".z")  # what joblib and pandas put behind the ending of a pickle
PICKLES = (".pkl", ".pickle", ".joblib", ".dill", ".cloudpickle", ".p", ".sav")
TEXTS = (".txt", ".md", ".log", ".rst", ".tex", ".out", ".yaml", ".yml")
UNREADABLE = (".pt", ".pth", ".onnx", ".h5", ".hdf5", ".keras", ".pb", ".cbm", ".xlsx", ".feather", ".arrow", ".rds")


@dataclass
class Reader:
    """Files that are read one after the other; skipped: by file, what was not read and why.

    unknown: how many files of other kinds there were, by their endings.
    """

    names: frozenset[str] = frozenset()
    read: int = 0
    skipped: dict[str, str] = field(default_factory=dict)
    unknown: Counter[str] = field(default_factory=Counter)

    def through(self, paths: list[Path]) -> Iterator[Found]:
        """Everything in files and folders."""
        for path in paths:
            if not _exists(path):
                shown = str(path) if len(str(path)) < LONG else "of such a long name"
                raise JaliError(f"There is no file or folder {shown}: give what is to be scanned.")
            root = path if path.is_dir() else path.parent
            for file in sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]:
                yield from self._file(file, str(file.relative_to(root)))
        for ending, count in sorted(self.unknown.items()):
            self.skipped[f"{count:,} × {ending or 'no ending'}"] = "files of this kind are not read"

    def _file(self, path: Path, label: str) -> Iterator[Found]:
        kind = _kind(path)
        if path.is_symlink() or kind is None:
            if path.suffix.lower() in UNREADABLE or path.is_symlink():
                self.skipped[label] = "a link" if path.is_symlink() else f"{path.suffix} files are not read"
            else:
                self.unknown[path.suffix.lower()[:20]] += 1
            return
        try:
            found = list(READERS[kind](self, path, label))
        except Exception as error:  # a damaged or hostile file can fail in any way; values in it are not repeated
            said = isinstance(error, JaliError | OSError | zipfile.BadZipFile) and str(error)
            self.skipped[label] = f"not readable as {kind}: {said[:200] if said else type(error).__name__}"
            return
        self.read += 1
        yield from found

    def walked(self, value: Any, label: str) -> Iterator[Found]:
        """What lies in a value that was read from a file."""
        walk = Walk(self.names)
        yield from walk.through(value, label)
        if walk.stopped:
            self.skipped[label] = "too many or too deeply nested objects: the rest was not searched"

    def _frame(self, path: Path, label: str) -> Iterator[Found]:
        if path.stat().st_size > MOST:
            raise JaliError(f"it is larger than {MOST >> 30} GB")
        yield from self.walked(frame_files.read(path, loosely=True), label)

    def _json(self, path: Path, label: str) -> Iterator[Found]:
        text = _text(path)
        if path.suffix.lower() in (".jsonl", ".ndjson"):
            yield from self.walked([json.loads(line) for line in text.splitlines() if line.strip()], label)
        else:
            yield from self.walked(json.loads(text), label)

    def _npz(self, path: Path, label: str) -> Iterator[Found]:
        left = MOST
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                left -= entry.file_size
                if left < 0 or not entry.filename.endswith(".npy"):
                    self.skipped[f"{label}: {entry.filename[:60]}"] = "no array, or more than 1 GB of them"
                    continue
                yield from self._array(archive.read(entry), f"{label}: {entry.filename.removesuffix('.npy')[:60]}")

    def _npy(self, path: Path, label: str) -> Iterator[Found]:
        yield from self._array(_bytes(path), label)

    def _array(self, data: bytes, label: str) -> Iterator[Found]:
        """One .npy array; objects in it are read as a pickle is."""
        stream = io.BytesIO(data)
        kind, shape, order = _header(stream)
        if kind.hasobject:
            value, names = pickle_files.read_bytes(data[stream.tell() :])
            self._named(label, names)
            array = array_of(value) if isinstance(value, Made) else None
            yield from self.walked(value if array is None else array, label)
            return
        if math.prod(shape) * kind.itemsize != len(data) - stream.tell():
            raise JaliError("the array is not as large as its header says")
        flat = np.frombuffer(data, dtype=kind, offset=stream.tell())
        yield from self.walked(flat.reshape(shape, order="F" if order else "C"), label)

    def _safetensors(self, path: Path, label: str) -> Iterator[Found]:
        data = _bytes(path)
        size = int.from_bytes(data[:8], "little")
        if size > len(data) - 8:
            raise JaliError("the header is longer than the file")
        body = memoryview(data)[8 + size :]
        for name, entry in json.loads(data[8 : 8 + size]).items():
            if name == "__metadata__" or entry.get("dtype") not in TENSORS:
                continue
            start, end = entry["data_offsets"]
            array = np.frombuffer(body[start:end], dtype=f"<{TENSORS[entry['dtype']]}").reshape(entry["shape"])
            yield from array_pieces(f"{label}: {name[:60]}", array)

    def _pickle(self, path: Path, label: str) -> Iterator[Found]:
        value, names = pickle_files.read(path)
        self._named(label, names)
        yield from self.walked(value, label)

    def _named(self, label: str, names: set[str]) -> None:
        """Say which objects of a pickle were not made: their arrays are read, and nothing of them runs."""
        if others := roots(names):
            shown = ", ".join(others[:6]) + (" and more" if len(others) > 6 else "")
            self.skipped[f"{label} (objects)"] = f"objects of {shown} were not made; arrays in them were read"

    def _notebook(self, path: Path, label: str) -> Iterator[Found]:
        for value, where in documents.notebook(json.loads(_text(path)), label):
            yield from self.walked(value, where)

    def _page(self, path: Path, label: str) -> Iterator[Found]:
        for value, where in documents.page(_text(path), label):
            yield from self.walked(value, where)

    def _plain(self, path: Path, label: str) -> Iterator[Found]:
        for value in documents.printed(_text(path)):
            yield from self.walked(value, label)


def _exists(path: Path) -> bool:
    """Whether there is such a file; a text that is no path at all is none."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _header(stream: io.BytesIO) -> tuple[np.dtype[Any], tuple[int, ...], bool]:
    """The type, shape and order of a .npy array."""
    version = np.lib.format.read_magic(stream)
    read: Any = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, order, kind = read(stream)
    return kind, shape, order


def _bytes(path: Path) -> bytes:
    if path.stat().st_size > MOST:
        raise JaliError(f"it is larger than {MOST >> 30} GB")
    return path.read_bytes()


def _text(path: Path) -> str:
    return _bytes(path).decode("utf-8", errors="replace")


def _kind(path: Path) -> str | None:
    """How a file is read, by its ending, else by how it begins; None where it is not."""
    name = path.name.lower()
    bare = name.removesuffix(".gz") if name.endswith((".csv.gz", ".tsv.gz")) else name
    ending = Path(bare).suffix
    if ending in COMPRESSED and Path(Path(bare).stem).suffix in (*PICKLES, ""):
        return "pickle"
    known = {".csv": "table", ".tsv": "table", ".parquet": "table", ".json": "JSON", ".jsonl": "JSON"}
    known |= {".ndjson": "JSON", ".npz": "npz", ".npy": "npy", ".safetensors": "safetensors", ".ipynb": "notebook"}
    known |= {".html": "HTML", ".htm": "HTML"} | dict.fromkeys(PICKLES, "pickle") | dict.fromkeys(TEXTS, "text")
    if ending in known or ending in UNREADABLE:
        return known.get(ending)
    try:
        with path.open("rb") as file:
            start = file.read(6)
    except OSError:
        return "text"  # that it cannot be read is said where it is read
    if start[:1] == b"\x80" and len(start) > 1 and start[1] <= 5:
        return "pickle"
    return "npy" if start == b"\x93NUMPY" else None


READERS: dict[str, Callable[[Reader, Path, str], Iterator[Found]]] = {
    "table": Reader._frame,
    "JSON": Reader._json,
    "npz": Reader._npz,
    "npy": Reader._npy,
    "safetensors": Reader._safetensors,
    "pickle": Reader._pickle,
    "notebook": Reader._notebook,
    "HTML": Reader._page,
    "text": Reader._plain,
}
Array = npt.NDArray[Any]
