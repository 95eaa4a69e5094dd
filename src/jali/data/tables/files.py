"""Data files: where they are found, how they are downloaded, and how they are checked.

A file is searched in the folder named by JALI_DATA, then in the user's cache, then among the copies that come with the
package (`data/embedded`), as `x`, `x.gz` or `x.xz`. The sha256 is that of the uncompressed content and is checked at
every reading, so a data set always has the content that its code declares.
"""

from __future__ import annotations

import gzip
import hashlib
import lzma
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
EMBEDDED = Path(__file__).parents[1] / "embedded"  # copies whose licence allows it; see SOURCES.md there
ENDINGS = ("", ".gz", ".xz")


@dataclass(frozen=True)
class Remote:
    """A file: its path below a data folder, the sha256 of its uncompressed content, and where it comes from.

    For a file that can be downloaded, the first folder of its path is the name of its data set. A file without a url
    has `how`: instructions to get it.
    """

    path: str
    sha256: str
    url: str = ""
    how: str = ""


class Filed(Protocol):
    """Anything that declares which files it reads."""

    @property
    def files(self) -> tuple[Remote, ...]:
        """The files; empty for a generated or embedded table."""


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
    """The folders of the user that are searched, in order: JALI_DATA if set, then the cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jali" / "data"
    chosen = os.environ.get("JALI_DATA")
    return [Path(chosen).expanduser(), cache] if chosen else [cache]


def find(remote: Remote) -> Path | None:
    """The path of the file, plain or compressed; None where it is in no folder."""
    paths = (folder / f"{remote.path}{end}" for folder in (*folders(), EMBEDDED) for end in ENDINGS)
    return next((path for path in paths if path.is_file()), None)


def present(source: Filed) -> bool:
    """Whether every file of a data set is present (an embedded one needs none)."""
    return all(find(remote) for remote in source.files)


def advice(remote: Remote) -> str:
    """How to get a file.

    >>> advice(Remote("adult/adult.data", "", "https://host/adult.data"))
    'run `jali data fetch adult`, or set JALI_DATA to the folder that holds adult/adult.data'
    """
    if remote.url:
        name = remote.path.split("/")[0]
        return f"run `jali data fetch {name}`, or set JALI_DATA to the folder that holds {remote.path}"
    return f"{remote.how}, save it as {remote.path} in a folder of yours and set JALI_DATA to that folder"


def locate(remote: Remote) -> Path:
    """The path of the file; where it is missing, the error says how to get it."""
    path = find(remote)
    if path is None:
        where = " or ".join(str(folder) for folder in folders())
        raise JaliError(f"The file {remote.path} is not in {where}: {advice(remote)}.")
    return path


def read(remote: Remote) -> bytes:
    """The uncompressed content of a file, checked against its sha256."""
    path = locate(remote)
    try:
        raw = path.read_bytes()
        content = _uncompressed(raw)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise JaliError(f"Cannot read {path} ({error}): remove it and {advice(remote)}.") from None
    _check(str(path), hashlib.sha256(content).hexdigest(), remote)
    return content


def _uncompressed(raw: bytes) -> bytes:
    """The content of a file, which may be compressed with gzip or xz."""
    if raw.startswith(b"\x1f\x8b"):
        return gzip.decompress(raw)
    if raw.startswith(b"\xfd7zXZ\x00"):
        return lzma.decompress(raw)
    return raw


def fetch(remote: Remote, folder: Path, progress: Progress) -> Path:
    """Download a file into a folder: complete and with the right sha256, or not at all.

    The bytes are written to a temporary file, which replaces the target only after its sha256 was checked, so a failed
    download never damages an existing file. `progress` is called with the bytes so far and in total (0: unknown).
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
    """The download library; it is an optional dependency, so that an audit needs no network library."""
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
    """A file that reports the bytes written to it; pooch takes it for a progress bar and sets its total."""

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
        """Do nothing: pooch counts whole chunks, and `write` counts bytes."""

    def reset(self) -> None:
        """Do nothing, as in `update`."""

    def close(self) -> None:
        """Do nothing: the caller that opened the file closes it."""


def _download(pooch: Any, url: str, part: Path, progress: Progress) -> None:
    with part.open("wb") as file:
        counted = _Counted(file, progress)
        get = pooch.HTTPDownloader(counted, CHUNK, timeout=TIMEOUT, headers={"User-Agent": "jali"})
        get(url, counted, None)
        os.fsync(file.fileno())


def _digest(part: Path) -> str:
    """The sha256 of the uncompressed content, read in chunks."""
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
            f"The file at {where} is not the expected {remote.path}: its sha256 is {found}, not {remote.sha256}; "
            "use the original file."
        )


def _reason(error: BaseException) -> str:
    """One line about a failure: the server's reply, or the first cause, which requests wraps several times."""
    if (response := getattr(error, "response", None)) is not None:
        response.close()
        return f"the server answered {response.status_code} {response.reason}"
    while error.__context__ is not None:
        error = error.__context__
    return str(getattr(error, "strerror", None) or error or type(error).__name__)
