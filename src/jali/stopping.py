"""Orderly ends: after Ctrl-C, SIGTERM or SIGHUP a run stops its workers and leaves no unfinished file."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import signal
import threading
import time
from collections.abc import Iterator
from functools import lru_cache
from types import FrameType

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


def alive(process: int) -> bool:
    """Whether there is a process with this number on this machine."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # there is one, of another user
        return True
    return True


@lru_cache(maxsize=1)
def machine() -> str:
    """A few characters that tell this machine from others, without its name."""
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def _outlive(process: int) -> None:
    """End this worker when the process that started it is gone: one that was killed cannot end its workers."""
    while os.getppid() == process:
        time.sleep(1)
    os._exit(1)


def follow(process: int) -> None:
    """Make this process a worker of another one, which may end it; when that one is gone, it ends too."""
    _leader[:] = [process]
    if os.getppid() == process:
        threading.Thread(target=_outlive, args=(process,), daemon=True).start()
    if MASKS:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
