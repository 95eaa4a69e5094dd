"""A run that is told to stop (Ctrl-C, SIGTERM, SIGHUP) ends in order, its workers too, and leaves nothing half-made."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

MASKS = hasattr(signal, "pthread_sigmask")


class Stopped(BaseException):
    """The run was told to stop by a signal; no error, so that nobody handles it as one."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextlib.contextmanager
def orderly() -> Iterator[None]:
    """Turn signals that ask for the end into `Stopped`, in whatever the main thread does at that moment."""
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
        ignore()  # a second signal must not land in what the first one set going
        raise Stopped(number)


def ignore() -> None:
    """Ignore further signals that ask for the end, until `orderly` is left: the end is near."""
    for number in SIGNALS:
        if signal.getsignal(number) is _stop:
            signal.signal(number, signal.SIG_IGN)


_busy: list[object] = []  # one item for each `undisturbed` that is not left yet
_waiting: list[int] = []  # signals that came meanwhile


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Let signals that ask for the end wait, so that what is begun here is finished or not begun.

    They are also blocked, for the sake of processes that are started here: these never get Ctrl-C and SIGHUP, since
    whoever started them ends them; they call `follow`. Blocking alone is not enough, because another thread may get a
    signal, and the main thread is then told.
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


_leader: list[int] = []  # in a worker, the process that started it


def run() -> int:
    """The process that began this run: this one, or the one that started this worker."""
    return _leader[0] if _leader else os.getpid()


def follow(process: int) -> None:
    """Make this process a worker of another one, which may end it."""
    _leader[:] = [process]
    if MASKS:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
