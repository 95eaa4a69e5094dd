"""A Dask cluster, by the address of its scheduler or started on this machine; the only module that imports it."""

from __future__ import annotations

import logging
import time
from concurrent.futures import CancelledError, Executor
from typing import Any

from jali import stopping
from jali.core import imports
from jali.core.errors import JaliError

PATIENCE = 30.0  # seconds to wait for a scheduler, and for its first worker

_clients: dict[tuple[str, int], tuple[Any, Any]] = {}  # client, and the cluster where we started it


def executor(address: str, workers: int) -> Executor:
    """An executor that submits to a cluster.

    Dask itself sends the tasks of a lost worker to another one, three times for each task. Every task is sent and run
    (`pure=False`), because two with the same arguments are still two.
    """
    made: Executor = _client(address, workers).get_executor(pure=False)
    return made


def breaks() -> tuple[type[BaseException], ...]:
    """The errors of a lost cluster; a lost scheduler cancels what it was given."""
    from distributed import KilledWorker

    return (KilledWorker, CancelledError, ConnectionError)


def size(address: str, workers: int) -> int:
    """How many tasks the workers that are there take at once."""
    threads: int = sum(_client(address, workers).nthreads().values())
    return max(1, threads)


def _client(address: str, workers: int) -> Any:
    """The client of a cluster, connected once."""
    key = address, workers
    if key in _clients and _clients[key][0].status != "running":
        _close(*_clients.pop(key))
    if key not in _clients:
        with stopping.undisturbed():  # workers started here must not get the signals that stop this run
            _clients[key] = _connected(address, workers)
    return _clients[key][0]


def _connected(address: str, workers: int) -> tuple[Any, Any]:
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise JaliError("The engine dask needs another library: pip install 'jali-audit[dask]'.") from None
    cluster = None
    try:
        if not address:
            cluster = LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
            )
        client = Client(cluster or address, timeout=PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, RuntimeError) as error:
        if address:
            raise JaliError(
                f"No Dask scheduler answers at {address}: start one with `dask scheduler`, or correct --engine."
            ) from None
        raise JaliError(f"A Dask cluster could not be started on this machine: {error}") from None
    _wait_for_workers(client, address)
    client.register_plugin(_follower(imports.places()), name=f"jali-{stopping.run()}")
    return client, cluster


def _wait_for_workers(client: Any, address: str) -> None:
    until = time.monotonic() + PATIENCE
    while not client.nthreads():
        if time.monotonic() > until:
            client.close()
            raise JaliError(f"The scheduler at {address} has no workers: start some with `dask worker {address}`.")
        time.sleep(0.05)


def _follower(places: tuple[tuple[str, tuple[str, ...]], ...]) -> Any:
    """What every worker does when it begins, also one that joins later: find a user's modules where this run does."""
    from distributed import WorkerPlugin

    class Follower(WorkerPlugin):  # type: ignore[misc]
        def setup(self, worker: Any) -> None:  # noqa: ARG002
            from jali.core import imports

            imports.follow(places)

    return Follower()


def stop() -> None:
    """Cancel our tasks and leave; a cluster that we started ends."""
    while _clients:
        _close(*_clients.popitem()[1])


def _close(client: Any, cluster: Any) -> None:
    client.close(timeout=5)
    if cluster is not None:
        cluster.close(timeout=5)
