"""Where data files lie, and how they get there: found by path, fetched whole, checked by sha256.

A file is looked for in the folder named by JALI_DATA, then in the user's cache, as `x` or as `x.gz`. The sum is always
of the uncompressed content and is checked at every reading, so a table is settled by the code that declares it.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol, runtime_checkable
from urllib.parse import urlsplit

from jali.core.errors import JaliError

CHUNK = 1 << 16
TIMEOUT = 30.0
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Remote:
    """A file: its path below a data folder, the sha256 of its uncompressed content, and where it comes from.

    The first folder of the path of a file that can be downloaded is the name of its data set. A file without an
    address has `how`: what to do to get it.
    """

    path: str
    sha256: str
    url: str = ""
    how: str = ""


class Filed(Protocol):
    """Anything that says which files it reads."""

    @property
    def files(self) -> tuple[Remote, ...]:
        """The files, empty for a table made on the spot."""


@runtime_checkable
class Documented(Filed, Protocol):
    """Capability of a data set: it says where it comes from; a data set of somebody's own need not."""

    @property
    def origin(self) -> str:
        """Where it comes from."""

    @property
    def licence(self) -> str:
        """The licence it may be used under."""


def folders() -> list[Path]:
    """The folders searched, first one first: JALI_DATA where set, then the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jali" / "data"
    chosen = os.environ.get("JALI_DATA")
    return [Path(chosen).expanduser(), cache] if chosen else [cache]


def find(remote: Remote) -> Path | None:
    """The file, plain or compressed, or None where it is in no folder."""
    paths = (folder / f"{remote.path}{end}" for folder in folders() for end in ("", ".gz"))
    return next((path for path in paths if path.is_file()), None)


def present(source: Filed) -> bool:
    """Whether every file of a data set is there (none is needed for an embedded one)."""
    return all(find(remote) for remote in source.files)


def advice(remote: Remote) -> str:
    """What to do to get a file.

    >>> advice(Remote("adult/adult.data", "", "https://host/adult.data"))
    'run `jali data fetch adult`, or set JALI_DATA to the folder that holds adult/adult.data'
    """
    if remote.url:
        name = remote.path.split("/")[0]
        return f"run `jali data fetch {name}`, or set JALI_DATA to the folder that holds {remote.path}"
    return f"{remote.how}, save it as {remote.path} in a folder of yours and set JALI_DATA to that folder"


def locate(remote: Remote) -> Path:
    """The file, or what to do to get it."""
    path = find(remote)
    if path is None:
        where = " or ".join(str(folder) for folder in folders())
        raise JaliError(f"The file {remote.path} is not in {where}: {advice(remote)}.")
    return path


def read(remote: Remote) -> bytes:
    """The uncompressed content of a file, checked against its sum."""
    path = locate(remote)
    try:
        raw = path.read_bytes()
        content = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    except (OSError, EOFError, zlib.error) as error:
        raise JaliError(f"Cannot read {path} ({error}): remove it and {advice(remote)}.") from None
    _check(str(path), hashlib.sha256(content).hexdigest(), remote)
    return content


def fetch(remote: Remote, folder: Path, progress: Progress) -> Path:
    """Download a file into a folder: whole and with the right sum, or not at all.

    The bytes go to a temporary neighbour that replaces the file only after its sum was checked, so a failed download
    never harms a file that was there. `progress` is told the bytes so far and in all (0: the server did not say).
    """
    if urlsplit(remote.url).scheme not in ("http", "https"):
        raise JaliError(f"The file {remote.path} has no http address to download it from: {advice(remote)}.")
    pooch = _pooch(remote)
    packed = ".gz" if urlsplit(remote.url).path.endswith(".gz") else ""
    path = folder / f"{remote.path}{packed}"
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _download(pooch, remote.url, part, progress)
        _check(remote.url, _digest(part), remote)
        os.replace(part, path)
    except (OSError, EOFError, zlib.error) as error:
        raise JaliError(f"Could not fetch {remote.url} into {folder}: {_reason(error)}.") from None
    finally:
        if part.parent.is_dir():
            part.unlink(missing_ok=True)
    return path


def _pooch(remote: Remote) -> Any:
    """The library that downloads; it is an extra, so that an audit needs no network library."""
    try:
        import pooch
    except ImportError:
        raise JaliError(
            "Downloading needs pooch, which is not installed: pip install 'jali-audit[data]', "
            f"or set JALI_DATA to the folder that holds {remote.path}."
        ) from None
    return pooch


@dataclass
class _Counted:
    """A file that reports the bytes written to it; as pooch's progress bar it learns how many there will be."""

    file: BinaryIO
    progress: Progress
    total: int = 0
    done: int = 0

    def write(self, chunk: bytes) -> None:
        self.file.write(chunk)
        self.done += len(chunk)
        self.progress(self.done, self.total)

    def flush(self) -> None:
        self.file.flush()

    def update(self, size: int) -> None:
        """Nothing: pooch counts whole chunks, and `write` counts bytes."""

    def reset(self) -> None:
        """Nothing, as in `update`."""

    def close(self) -> None:
        """Nothing: the file is closed by whoever opened it."""


def _download(pooch: Any, url: str, part: Path, progress: Progress) -> None:
    with part.open("wb") as file:
        counted = _Counted(file, progress)
        get = pooch.HTTPDownloader(counted, CHUNK, timeout=TIMEOUT, headers={"User-Agent": "jali"})
        get(url, counted, None)
        os.fsync(file.fileno())


def _digest(part: Path) -> str:
    """Sum of the uncompressed content, never held in memory as a whole."""
    digest = hashlib.sha256()
    with part.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        with gzip.open(file) if packed else file as content:
            while chunk := content.read(CHUNK):
                digest.update(chunk)
    return digest.hexdigest()


def _check(where: str, found: str, remote: Remote) -> None:
    if found != remote.sha256:
        raise JaliError(
            f"What lies at {where} is not the expected {remote.path}: its sha256 is {found}, not {remote.sha256}; "
            "use the original file."
        )


def _reason(error: BaseException) -> str:
    """One line about a failure: what the server said, or the first cause, which requests wraps several times."""
    if (response := getattr(error, "response", None)) is not None:
        response.close()
        return f"the server said {response.status_code} {response.reason}"
    while error.__context__ is not None:
        error = error.__context__
    return str(getattr(error, "strerror", None) or error or type(error).__name__)
