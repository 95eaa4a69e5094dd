"""Orderly ends: after Ctrl-C, SIGTERM or SIGHUP a run stops its workers and leaves no unfinished file."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import signal
import stat
import threading
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from types import FrameType

try:
    import fcntl
except ImportError:  # Windows has no such locks
    LOCKS = False
else:
    LOCKS = True

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

MASKS = hasattr(signal, "pthread_sigmask")


class Stopped(BaseException):
    """A signal asked the run to stop; not an Exception, so that no handler of errors catches it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextlib.contextmanager
def orderly() -> Iterator[None]:
    """Raise `Stopped` in the main thread when a signal asks the run to stop."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread may choose what signals do
        yield
        return
    before = {number: signal.signal(number, _stop) for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(number: int, _: FrameType | None) -> None:
    if _busy:
        _waiting.append(number)
    else:
        ignore()  # a second signal must not interrupt the handling of the first
        raise Stopped(number)


def ignore() -> None:
    """Ignore further signals to stop until `orderly` is left, because the run is already stopping."""
    for number in SIGNALS:
        if signal.getsignal(number) is _stop:
            signal.signal(number, signal.SIG_IGN)


_busy: list[object] = []  # one item for each `undisturbed` block that is running
_waiting: list[int] = []  # signals that came meanwhile


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Delay signals to stop until the block is left, so that its work is done completely or not at all.

    They are also blocked, so that processes started here inherit the block and never get Ctrl-C and SIGHUP: the process
    that started them ends them; they call `follow`. Blocking alone is not enough, because another thread may receive
    the signal, and Python then runs the handler in the main thread.
    """
    _busy.append(None)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS) if MASKS else None
    try:
        yield
    finally:
        if before is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        _busy.pop()
        if _waiting and not _busy:
            number = _waiting[0]
            _waiting.clear()
            ignore()
            raise Stopped(number)


def block() -> None:
    """Block the signals again inside `undisturbed`, where something has unblocked them."""
    if MASKS and _busy:
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)


_leader: list[int] = []  # in a worker, the process that started it


def run() -> int:
    """The process of this run: this one, or in a worker the one that started it."""
    return _leader[0] if _leader else os.getpid()


def number(text: str) -> int:
    """The number of a process in the name of a file, which anybody may have made; 0 where it is none.

    >>> number("4711"), number("\u00b2"), number("9" * 30)
    (4711, 0, 0)
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def alive(process: int) -> bool:
    """Whether there is a process with this number on this machine."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # there is one, of another user
        return True
    return True


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Mark a folder as in use until the block is left; the system takes the mark away when this process is killed."""
    handle = os.open(folder, os.O_RDONLY) if LOCKS else None
    try:
        if handle is not None:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(handle, fcntl.LOCK_SH)
        yield
    finally:
        if handle is not None:
            os.close(handle)


def abandoned(folder: Path, process: int) -> bool:
    """Whether a folder was left by a run of this user that is gone: nobody holds it, and its process is not there.

    What is no folder, or somebody else's, is left alone: temporary folders are open to everybody. A number may have
    gone to another process meanwhile; then the folder is believed to be left after a minute. Runs in containers do not
    see each other's processes, but each other's locks.
    """
    try:
        state = folder.lstat()
        if not stat.S_ISDIR(state.st_mode) or (hasattr(os, "geteuid") and state.st_uid != os.geteuid()):
            return False
        age = time.time() - state.st_mtime
        return not _in_use(folder) and (not alive(process) or age > 60)
    except OSError:  # gone, or another user's
        return False


def _in_use(folder: Path) -> bool:
    if not LOCKS:
        return False
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks: the number of the process decides
        return False
    finally:
        os.close(handle)
    return False


@lru_cache(maxsize=1)
def machine() -> str:
    """A few characters that tell this machine from others, without its name."""
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def _outlive(parent: int) -> None:
    """End this worker when the process that started it is gone: one that was killed cannot end its workers."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def follow(leader: int, parent: int) -> None:
    """Make this process a worker of a run, which may end it; when the process that started it is gone, it ends too.

    That may be so already: a worker takes seconds to start, in which a run can be killed.
    """
    _leader[:] = [leader]
    threading.Thread(target=_outlive, args=(parent,), daemon=True).start()
    if MASKS:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
