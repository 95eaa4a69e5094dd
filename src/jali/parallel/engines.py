"""Engines: where tasks run. Each gives an executor of `concurrent.futures`, so that all run by the same code."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from jali.core.errors import JaliError
from jali.parallel import dask_cluster, processes

DASK = "dask"
ALL = sys.maxsize
AGAIN = "start the run again, and it goes on from what is in the store"


class Engine(Protocol):
    """Where tasks run.

    here: in this process, one after the other. local: on this machine, as processes of this run. workers: how many
    tasks run at once; it decides how work is cut, and changes no number. tries: how many executors may break.
    lost: what to say when they did. ahead: how many tasks are submitted before the first one is done.
    """

    here: ClassVar[bool]
    local: ClassVar[bool]
    tries: ClassVar[int]
    lost: ClassVar[str]

    @property
    def workers(self) -> int:
        """How many tasks run at once."""

    @property
    def ahead(self) -> int:
        """How many tasks are submitted before the first one is done."""

    def executor(self) -> Executor:
        """The executor to submit to; a new one where the last one broke."""

    def breaks(self) -> tuple[type[BaseException], ...]:
        """The errors that mean that workers were lost, not that a task is wrong."""

    def drop(self, futures: Iterable[Future[Any]]) -> None:
        """Cancel tasks whose results nobody waits for any more."""


@dataclass(frozen=True)
class InProcess:
    """The process of the run itself, one task after the other."""

    here: ClassVar[bool] = True
    local: ClassVar[bool] = True
    tries: ClassVar[int] = 1
    lost: ClassVar[str] = ""
    workers: int = 1
    ahead: ClassVar[int] = 1

    def executor(self) -> Executor:
        """There is none: tasks are called."""
        raise RuntimeError("Tasks of the process itself are called, not submitted: ask an engine that is not `here`.")

    def breaks(self) -> tuple[type[BaseException], ...]:
        """Nothing can be lost."""
        return ()

    def drop(self, futures: Iterable[Future[Any]]) -> None:
        """There are none."""


HERE = InProcess()


@dataclass(frozen=True)
class Processes:
    """Worker processes on this machine (joblib's loky)."""

    workers: int
    here: ClassVar[bool] = False
    local: ClassVar[bool] = True
    tries: ClassVar[int] = 3
    lost: ClassVar[str] = (
        "Worker processes were killed three times, perhaps because memory ran out: use fewer --workers, then " + AGAIN
    )

    @property
    def ahead(self) -> int:
        """Few, so that all are in the hands of the workers: loky cannot be ended in order while others wait."""
        return 2 * self.workers

    def executor(self) -> Executor:
        """The pool of this process."""
        return processes.pool(self.workers)

    def breaks(self) -> tuple[type[BaseException], ...]:
        """The executor's own error."""
        return (BrokenExecutor,)

    def drop(self, futures: Iterable[Future[Any]]) -> None:
        """End the workers: loky would wait for ever for workers that it is told to end after futures were cancelled."""
        if any(futures):
            processes.stop()


@dataclass(frozen=True, eq=False)
class Given:
    """An executor of the user: of threads, of processes, of Ray, of MPI. It is neither started nor ended here."""

    given: Executor
    workers: int
    here: ClassVar[bool] = False
    local: ClassVar[bool] = False
    tries: ClassVar[int] = 1
    ahead: ClassVar[int] = ALL
    lost: ClassVar[str] = "The executor lost a worker and takes no more work: make a new one, then " + AGAIN

    def executor(self) -> Executor:
        """The executor as it is."""
        return self.given

    def breaks(self) -> tuple[type[BaseException], ...]:
        """The executor's own error."""
        return (BrokenExecutor,)

    def drop(self, futures: Iterable[Future[Any]]) -> None:
        """Cancel what has not begun."""
        for future in futures:
            future.cancel()


@dataclass(frozen=True)
class Dask:
    """A Dask cluster; without an address, one on this machine."""

    address: str
    asked: int
    here: ClassVar[bool] = False
    local: ClassVar[bool] = False
    tries: ClassVar[int] = 2
    ahead: ClassVar[int] = ALL
    lost: ClassVar[str] = (
        "The Dask cluster lost its scheduler, or several workers by the same task, perhaps because memory ran out: "
        "look at its logs, then " + AGAIN
    )

    @property
    def workers(self) -> int:
        """Threads of all workers that are there now, each of which takes a task."""
        return dask_cluster.size(self.address, self.asked)

    def executor(self) -> Executor:
        """An executor of the client, which is connected once."""
        return dask_cluster.executor(self.address, self.asked)

    def breaks(self) -> tuple[type[BaseException], ...]:
        """A task that took several workers with it, or a scheduler that is gone."""
        return dask_cluster.breaks()

    def drop(self, futures: Iterable[Future[Any]]) -> None:
        """Cancel them on the cluster; what has begun there ends, and its result is not kept."""
        for future in futures:
            future.cancel()


def engine(named: str | Executor | Engine = "processes", workers: int = 1) -> Engine:
    """The engine of a name (`processes`, `dask`, `dask://host:8786`) or of an executor; one process is this one.

    >>> engine("processes", 1).here, engine("dask://somewhere:8786").address
    (True, 'tcp://somewhere:8786')
    """
    if isinstance(named, Executor):
        return Given(named, workers)
    if not isinstance(named, str):
        return named
    if named == "processes":
        return Processes(workers) if workers > 1 else HERE
    kind, _, where = named.partition("://")
    if kind == DASK and (where or named == DASK):
        return Dask(f"tcp://{where}" if where else "", workers)
    raise JaliError(f"There is no engine {named!r}; there are processes, dask and dask://host:port.")


def stop() -> None:
    """End all workers of this run at once; a cluster of somebody else's goes on without our tasks."""
    processes.stop()
    dask_cluster.stop()
