"""Keys of noise and of answers: files with random bytes that only their owner can read."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from jali.core.errors import JaliError
from jali.core.files import content

LONGEST = 1 << 20  # bytes of a key; a file that is longer is something else
SHORTEST = 16  # least number of bytes of a key
VARIED = 8  # least number of different bytes in a key; 16 random bytes have fewer once in 10^9 keys
FRESH = "fresh, in memory"  # a key of 32 random bytes of this process instead of a file; it is never written to disk
MAKE = 'make a key, (umask 077; head -c 32 /dev/urandom > recourse.key), and name it, key="recourse.key"'

# Drawn once per process, so that all preparations for one training set give the same release.
PROCESS_KEY = secrets.token_bytes(32)


def secret_of(name: str, key: str) -> bytes:
    """The bytes of a key, from its file or of this process."""
    return PROCESS_KEY if key == FRESH else read_key(name, Path(key))


def read_key(name: str, path: Path) -> bytes:
    """Read a key from its file; a key that is short, not random or readable by others is refused."""
    try:
        secret = content(path, LONGEST)
        mode = path.stat().st_mode
    except OSError as error:
        raise JaliError(f"{name}: cannot read the key {str(path)!r}: {error.strerror}; {MAKE}.") from None
    if len(secret) < SHORTEST:
        held = f"not {len(secret)}" if secret else "and it is empty"
        raise JaliError(f"{name}: the key must hold at least {SHORTEST} random bytes, {held}; {MAKE}.")
    if len(set(secret)) < VARIED:
        raise JaliError(
            f"{name}: the key holds {len(set(secret))} different bytes, so few that it is not random; {MAKE}."
        )
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise JaliError(
            f"{name}: other users of this machine may read or change the key {str(path)!r}, so it is "
            "not secret: make a new one that only you can read, as chmod 600 leaves it."
        )
    return secret
