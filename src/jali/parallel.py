"""One fan-out over workers; the only module that knows joblib."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from jali import stopping
from jali.core import imports

Task = TypeVar("Task")
Result = TypeVar("Result")
Progress = Callable[[int, int], None]
Watch = Callable[[str], Progress]
Places = tuple[tuple[str, tuple[str, ...]], ...]


def silent(done: int, total: int) -> None:
    """Progress that nobody watches."""


def cores() -> int:
    """How many workers this process may use."""
    import joblib

    return int(joblib.cpu_count())


def fan_out(
    run: Callable[[Task], Result], tasks: Sequence[Task], workers: int = 1, progress: Progress = silent
) -> Iterator[Result]:
    """Run every task and yield the results in order, reporting (done, total) as they come.

    One worker runs here; more run in processes of their own (joblib's loky), each with one thread for linear algebra,
    so that the numbers do not depend on where a task ran.

    >>> list(fan_out(abs, [-1, -2]))
    [1, 2]
    """
    progress(0, len(tasks))
    for done, result in enumerate(_results(run, tasks, min(workers, len(tasks))), start=1):
        progress(done, len(tasks))
        yield result


def _results(run: Callable[[Task], Result], tasks: Sequence[Task], workers: int) -> Iterator[Result]:
    import joblib

    if workers <= 1:
        yield from (alone(run, task) for task in tasks)
        return
    calls = (joblib.delayed(alone)(run, task) for task in tasks)
    pool = joblib.Parallel(
        n_jobs=workers,
        backend="loky",
        return_as="generator",
        pre_dispatch="2*n_jobs",
        batch_size=1,
        initializer=_begin,
        initargs=(imports.places(), stopping.run()),
    )
    with _elsewhere():
        with stopping.undisturbed():
            results = pool(calls)
        yield from results


@contextlib.contextmanager
def _elsewhere() -> Iterator[None]:
    """Start Python without the working folder on its path: `python -m`, as workers are started, puts it first."""
    before = os.environ.get(imports.SAFE)
    os.environ[imports.SAFE] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(imports.SAFE, None)
        else:
            os.environ[imports.SAFE] = before


def _begin(places: Places, run: int) -> None:
    """What a worker does first: find a user's own modules where its parent found them, and follow that parent."""
    imports.follow(places)
    stopping.follow(run)


def stop() -> None:
    """End all workers at once, and remove the memory they shared."""
    if "joblib" not in sys.modules:
        return
    from joblib.externals.loky import reusable_executor

    executor = reusable_executor._executor  # joblib has no public way to ask for it without starting one
    if executor is not None:
        executor.terminate(kill_workers=True)


def alone(run: Callable[[Task], Result], task: Task) -> Result:
    """Run one task with one thread: sums split over threads would change the last bits."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        return run(task)
