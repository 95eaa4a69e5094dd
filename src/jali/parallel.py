"""Run tasks on workers, and share arrays with them once; the only module that imports joblib."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from jali import stopping
from jali.core import imports, registry
from jali.core.errors import JaliError

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Task = TypeVar("Task")
Result = TypeVar("Result")
Progress = Callable[[int, int], None]
Watch = Callable[[str], Progress]
Places = tuple[tuple[str, tuple[str, ...]], ...]
Arrays = dict[str, npt.NDArray[Any]]
MEMORY = Path("/dev/shm")


class Ref(Protocol):
    """Arrays that all tasks of a run read; a task carries the reference, not the arrays."""

    def read(self) -> Arrays:
        """The arrays by name, read-only."""


@dataclass(frozen=True)
class Here:
    """Arrays of this process."""

    arrays: Arrays = field(repr=False)

    def read(self) -> Arrays:
        """The arrays by name."""
        return self.arrays


@dataclass(frozen=True)
class Mapped:
    """Arrays in files that every worker maps into its memory."""

    folder: str
    names: tuple[str, ...]

    def read(self) -> Arrays:
        """The arrays by name, read-only."""
        return {name: np.load(Path(self.folder) / f"{name}.npy", mmap_mode="r") for name in self.names}


@contextlib.contextmanager
def sharing(arrays: Mapping[str, npt.NDArray[Any]], workers: int = 1) -> Iterator[Ref]:
    """Share arrays with all tasks until the block is left: as they are with one worker, else in files, once.

    >>> with sharing({"x": np.arange(3)}, workers=2) as ref:
    ...     print(ref.read()["x"].tolist())
    [0, 1, 2]
    """
    if workers <= 1:
        yield Here(dict(arrays))
        return
    folder = tempfile.mkdtemp(prefix=f"jali-{stopping.run()}-", dir=MEMORY if os.access(MEMORY, os.W_OK) else None)
    try:
        for name, array in arrays.items():
            np.save(Path(folder) / f"{name}.npy", array, allow_pickle=False)
        yield Mapped(folder, tuple(arrays))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def silent(done: int, total: int) -> None:
    """No progress bar."""


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
    if workers <= 1:
        yield from (alone(run, task) for task in tasks)
        return
    import joblib

    code = registry.code()
    calls = (joblib.delayed(_same_code)(code, run, task) for task in tasks)
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


def _same_code(code: str, run: Callable[[Task], Result], task: Task) -> Result:
    """Run one task in a worker; refuse if the worker's code differs from that of the run."""
    if registry.code() != code:
        raise JaliError(
            "A worker has another version of jali or of its libraries than the run that sent it work, so its numbers "
            "would differ: start the run again, with the same version everywhere."
        )
    return alone(run, task)


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
    """Start a worker: let it find a user's own modules where its parent found them, and obey that parent."""
    imports.follow(places)
    stopping.follow(run)


def stop() -> None:
    """End all workers at once, and remove the memory they shared."""
    if "joblib" not in sys.modules:
        return
    from joblib.externals.loky import reusable_executor

    executor = reusable_executor._executor  # joblib has no public way to get it without starting one
    if executor is not None:
        executor.terminate(kill_workers=True)


def alone(run: Callable[[Task], Result], task: Task) -> Result:
    """Run one task with one thread: sums split over threads would change the last bits."""
    with _libraries(tuple(sys.modules)).limit(limits=1):
        return run(task)


@lru_cache(maxsize=1)
def _libraries(imported: tuple[str, ...]) -> ThreadpoolController:  # noqa: ARG001 (a key: imports load libraries)
    """The libraries loaded now that start threads; looking for them reads the memory map of the whole process."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
