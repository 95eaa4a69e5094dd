"""Workers must run the code of the run that sends them work, or one audit would have numbers of two versions."""

from __future__ import annotations

import hashlib
import platform
import sys
import threading
from collections.abc import Callable
from functools import cache
from importlib import metadata
from typing import TypeVar

from jali.core import registry
from jali.core.errors import JaliError
from jali.parallel.one_thread import alone

Task = TypeVar("Task")
Result = TypeVar("Result")
# Engines may run several tasks of a process in threads. Not everything here is made for that (warning filters, limits
# of threads), so that one runs after the other: give a cluster workers with one thread.
_turn = threading.Lock()


@cache
def version() -> str:
    """Digest of all of jali's code, of Python, of the kind of machine, and of the libraries that compute."""
    out = hashlib.sha256(repr((sys.version_info[:2], platform.machine())).encode())
    for path in sorted(registry.ROOT.rglob("*.py")):
        out.update(path.relative_to(registry.ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    for name in registry.LIBRARIES:
        out.update(f"{name} {_installed(name)}\0".encode())
    return out.hexdigest()


def _installed(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return ""


def checked(sent: str, run: Callable[[Task], Result], task: Task) -> Result:
    """Run one task in a worker; refuse if the worker's code differs from that of the run."""
    if version() != sent:
        raise JaliError(
            "A worker has another version of jali, of its libraries, of Python or of the machine than the run that "
            "sent it work, so its numbers could differ: use the same versions everywhere, and start the run again."
        )
    with _turn:
        return alone(run, task)
