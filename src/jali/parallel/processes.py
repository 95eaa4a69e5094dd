"""Worker processes on this machine: a pool of loky (in joblib) that is kept from one fan-out to the next."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor
from typing import Any

from jali import stopping
from jali.core import imports

IDLE = 300.0  # seconds after which a worker without work ends
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")
STOPPED = "A worker stopped while some jobs were given to the executor"
Places = tuple[tuple[str, tuple[str, ...]], ...]

_pools: list[tuple[Any, tuple[int, Places]]] = []  # the pool, and what it was made for


def cores() -> int:
    """How many workers this process may use."""
    import joblib

    return int(joblib.cpu_count())


def pool(workers: int) -> Executor:
    """A pool with so many workers, the last one if it still works; call it with `started`."""
    from joblib.externals.loky import ProcessPoolExecutor

    # loky replaces a worker that ended (idle for long, or by its guess that memory leaks) and warns about it in the
    # thread that looks after the workers. Where warnings are errors, that thread would end and no result would come.
    warnings.filterwarnings("ignore", STOPPED, UserWarning)
    wanted = workers, imports.places()
    if _pools and (_pools[0][1] != wanted or _broken(_pools[0][0])):
        stop()
    if not _pools:
        _start_trackers()
        settings = dict.fromkeys(THREADS, "1") | {imports.SAFE: "1"}
        given = {
            "initializer": _begin,
            "initargs": (wanted[1], stopping.run(), os.getpid()),
            "env": settings,
            "timeout": IDLE,
        }
        _pools.append((ProcessPoolExecutor(workers, **given), wanted))
    made: Executor = _pools[0][0]
    return made


def _start_trackers() -> None:
    """Start what looks after shared memory before the workers: starting it unblocks Ctrl-C, which workers inherit."""
    from multiprocessing import resource_tracker as of_python

    from joblib.externals.loky.backend import resource_tracker as of_loky

    for tracker in (of_python, of_loky):
        tracker.ensure_running()
    stopping.block()


def _broken(executor: Any) -> bool:
    return bool(executor._flags.broken or executor._flags.shutdown)  # loky has no public way to ask


def stop() -> None:
    """End the workers at once."""
    while _pools:
        executor, _ = _pools.pop()
        executor.shutdown(wait=True, kill_workers=True)


def _begin(places: Places, run: int, parent: int) -> None:
    """Start a worker: let it find a user's own modules where its parent found them, and obey that parent."""
    from joblib.externals.loky import process_executor

    # With psutil, loky restarts workers that grow by 300 MB. Loading torch looks like a leak to it; the restart takes
    # seconds, and what a worker maps is given back at the end of a run anyway.
    process_executor._USE_PSUTIL = False
    imports.follow(places)
    stopping.follow(run, parent)


@contextlib.contextmanager
def elsewhere() -> Iterator[None]:
    """Start Python without the working folder on its path: `python -m` and `-c`, as workers start, put it first."""
    before = os.environ.get(imports.SAFE)
    os.environ[imports.SAFE] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(imports.SAFE, None)
        else:
            os.environ[imports.SAFE] = before
