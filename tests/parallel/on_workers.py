"""Functions that tests send to workers: these must be importable there."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from jali.core.errors import JaliError


def twice(number: int) -> int:
    return 2 * number


def process(_: int) -> int:
    return os.getpid()


def killed_at_first(task: tuple[str, int]) -> int:
    """The first worker that runs task 3 is killed without a word; afterwards all is well."""
    folder, number = task
    mark = Path(folder) / "killed"
    (Path(folder) / f"ran-{number}-{time.time_ns()}").touch()
    if number == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


def always_killed(number: int) -> int:
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def ends_quietly(number: int) -> int:
    """As loky does when memory grows: the worker says that it ends, and another one must take its place."""
    from joblib.externals.loky import process_executor

    process_executor._USE_PSUTIL = True
    process_executor._MEMORY_LEAK_CHECK_DELAY = 0.0
    process_executor._MAX_MEMORY_LEAK_SIZE = -1e12
    process_executor._get_memory_usage = lambda pid, force_gc=False: 1.0
    time.sleep(0.02)
    return 2 * number


def watches_its_memory(_: int) -> bool:
    from joblib.externals.loky import process_executor

    return bool(process_executor._USE_PSUTIL)


def fails_at(number: int) -> int:
    if number == 2:
        raise JaliError("Number 2 is not possible.")
    time.sleep(0.05)
    return number


def ignores_ctrl_c(_: int) -> bool:
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())
