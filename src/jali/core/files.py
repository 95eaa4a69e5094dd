"""Small files that somebody else may have named or written."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

MOST = 1 << 28  # bytes of a configuration, of results, of a page's numbers


def content(path: Path, most: int = MOST) -> bytes:
    """The bytes of a regular file; OSError for a device or a pipe, which may never end, and for what is too large."""
    state = path.stat()
    if stat.S_ISDIR(state.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(state.st_mode):
        raise OSError(errno.EINVAL, "it is a device or a pipe, not a file", str(path))
    if state.st_size > most:
        raise OSError(errno.EFBIG, f"it has more than {most >> 20} MB", str(path))
    return path.read_bytes()
