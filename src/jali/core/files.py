"""Small files that somebody else may have named or written."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import IO

MOST = 1 << 28  # bytes of a configuration, of results, of a page's numbers


def content(path: Path, most: int = MOST) -> bytes:
    """The bytes of a regular file; OSError for a device or a pipe, which may never end, and for what is too large."""
    with opened(path) as file:
        found = file.read(most + 1)
    if len(found) > most:
        raise OSError(errno.EFBIG, f"it has more than {most >> 20} MB", str(path))
    return found


def opened(path: Path) -> IO[bytes]:
    """A regular file, open for reading; OSError for a device or a pipe, at which opening alone may wait for ever.

    What was opened is checked, not the name, which may lead elsewhere a moment later.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    kind = os.fstat(handle).st_mode
    if stat.S_ISREG(kind):
        return os.fdopen(handle, "rb")
    os.close(handle)
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise OSError(errno.EINVAL, "it is a device or a pipe, not a file", str(path))
