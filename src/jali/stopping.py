"""A run that is told to stop (Ctrl-C, SIGTERM, SIGHUP) ends in order, its workers too, and leaves nothing half-made."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


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


def _stop(number: int, _: FrameType | None) -> NoReturn:
    raise Stopped(number)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Let signals that ask for the end wait, so that what is begun here is finished or not begun.

    Processes started here never get Ctrl-C and SIGHUP: whoever started them ends them. They call `follow`.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_leader: list[int] = []  # in a worker, the process that started it


def run() -> int:
    """The process that began this run: this one, or the one that started this worker."""
    return _leader[0] if _leader else os.getpid()


def follow(process: int) -> None:
    """Make this process a worker of another one, which may end it."""
    _leader[:] = [process]
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
