"""What a user's stores are sealed with, so that numbers in a store that came from elsewhere are not used.

A sealed npz file ends with the HMAC-SHA256 of its content as the comment of the zip archive; it stays a readable npz.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO

VARIABLE = "JALI_STORE_KEY"  # the same text on every machine of a cluster, instead of a file per user
LENGTH = hashlib.sha256().digest_size
END = b"PK\x05\x06"  # of a zip archive: this mark, 16 bytes, and the length of its comment in two bytes
TAIL = 22
COMMENT = LENGTH.to_bytes(2, "little")
PART = 1_000_000  # bytes that are read and written at a time


def user_secret() -> bytes:
    """The secret of this user: from the environment, or from a file that only this user reads, made when first needed.

    Where neither can be had, it is new in every process: nothing that is stored then is used again.
    """
    given = os.environ.get(VARIABLE)
    if given:
        return hashlib.sha256(given.encode()).digest()
    path = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "jali" / "store.key"
    with contextlib.suppress(OSError, RuntimeError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with contextlib.suppress(FileExistsError):
            _create(path)
        found = path.read_bytes()
        if len(found) == LENGTH:
            return found
    return _of_this_process


_of_this_process = secrets.token_bytes(LENGTH)


def _create(path: Path) -> None:
    """Write a new secret under another name and link it, so that nobody ever reads half of one."""
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_bytes(LENGTH))
            file.flush()
            os.fsync(file.fileno())
        os.link(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)


def sealed(archive: IO[bytes], key: str, secret: bytes) -> Iterator[bytes]:
    """The file of an npz archive without a comment, with its seal, part by part: archives are large.

    The key is sealed with it, so that entries cannot change places.

    >>> import io, numpy as np
    >>> file = io.BytesIO()
    >>> np.savez(file, x=np.arange(2))
    >>> whole = b"".join(sealed(file, "abc", b"secret"))
    >>> fits(whole, "abc", b"secret"), fits(whole, "abd", b"secret"), np.load(io.BytesIO(whole))["x"]
    (True, False, array([0, 1]))
    """
    left = archive.seek(-TAIL, os.SEEK_END) + TAIL - len(COMMENT)
    tail = archive.read()
    if not tail.startswith(END) or not tail.endswith(b"\0\0"):
        raise ValueError("a zip archive without a comment was expected")
    archive.seek(0)
    made = _begun(key, secret)
    while part := archive.read(min(PART, left)):
        made.update(part)
        yield part
        left -= len(part)
    yield COMMENT + _ended(made)


def fits(whole: bytes, key: str, secret: bytes) -> bool:
    """Whether the seal of an archive fits its content, the key and the secret."""
    content = memoryview(whole)[: -LENGTH - 2]
    has_comment = whole[-LENGTH - 2 : -LENGTH] == COMMENT
    return has_comment and hmac.compare_digest(_seal(content, key, secret), whole[-LENGTH:])


def _seal(content: memoryview, key: str, secret: bytes) -> bytes:
    """The seal of an archive, given without the two bytes that say how long its comment is."""
    made = _begun(key, secret)
    made.update(content)
    return _ended(made)


def _begun(key: str, secret: bytes) -> hmac.HMAC:
    return hmac.new(secret, key.encode() + b"\0", "sha256")


def _ended(made: hmac.HMAC) -> bytes:
    """The digest; the length of the comment was 0 when the archive was sealed."""
    made.update(b"\0\0")
    return made.digest()
