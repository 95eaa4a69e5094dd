"""Send every task to the workers of an engine, and give the results back in order."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import TypeVar

from jali import stopping
from jali.core.errors import JaliError
from jali.parallel.engines import HERE, Engine
from jali.parallel.one_thread import alone
from jali.parallel.processes import elsewhere
from jali.parallel.same_code import checked, version

Task = TypeVar("Task")
Result = TypeVar("Result")
Progress = Callable[[int, int], None]
Watch = Callable[[str], Progress]


def silent(done: int, total: int) -> None:
    """No progress bar."""


def fan_out(
    run: Callable[[Task], Result], tasks: Sequence[Task], engine: Engine = HERE, progress: Progress = silent
) -> Iterator[Result]:
    """Run every task and yield the results in order, reporting (done, total) as they come.

    Each task has one thread for linear algebra, so that the numbers do not depend on where it ran. Tasks must give the
    same result when they are run again: where workers are lost, what they had not finished is sent again. When the
    results are no longer wanted, or the run is told to stop, tasks that have not begun are cancelled.

    >>> list(fan_out(abs, [-1, -2]))
    [1, 2]
    """
    progress(0, len(tasks))
    if engine.here or (engine.local and len(tasks) <= 1):
        for done, task in enumerate(tasks, start=1):
            result = alone(run, task)
            progress(done, len(tasks))
            yield result
        return
    ready: dict[int, Result] = {}
    given = 0
    for done, (at, result) in enumerate(_as_completed(run, tasks, engine), start=1):
        progress(done, len(tasks))
        ready[at] = result
        while given in ready:
            yield ready.pop(given)
            given += 1


def send(run: Callable[[Task], Result], task: Task, engine: Engine = HERE) -> Result:
    """Run one task in a worker, where the engine has any: what it loads and holds is then not in this process, too.

    >>> send(abs, -1)
    1
    """
    if engine.here:
        return alone(run, task)
    [(_, result)] = _as_completed(run, [task], engine)
    return result


def _as_completed(run: Callable[[Task], Result], tasks: Sequence[Task], engine: Engine) -> Iterator[tuple[int, Result]]:
    """Position and result of each task, as they come; tasks of lost workers are sent again."""
    left = dict(enumerate(tasks))
    for _ in range(engine.tries):
        try:
            for at, result in _once(run, left, engine):
                del left[at]
                yield at, result
            return
        except engine.breaks():
            continue
    raise JaliError(engine.lost + ".")


def _once(run: Callable[[Task], Result], tasks: dict[int, Task], engine: Engine) -> Iterator[tuple[int, Result]]:
    """The tasks on one executor; it may break, with some of them finished."""
    futures: dict[Future[Result], int] = {}
    left = list(tasks.items())[::-1]
    try:
        while left or futures:
            _submit(run, left, futures, engine)
            done, _ = wait(futures, return_when=FIRST_COMPLETED)
            # Finished ones first: where the executor broke, they need not be done again.
            for future in sorted(done, key=_failed):
                yield futures.pop(future), future.result()
    finally:
        engine.drop(futures)


def _submit(
    run: Callable[[Task], Result], left: list[tuple[int, Task]], futures: dict[Future[Result], int], engine: Engine
) -> None:
    """Submit tasks, the last ones first, until the engine has as many as it takes at once."""
    if not left or len(futures) >= engine.ahead:
        return
    sent = version()
    # Workers may start here: they must not get the signals that stop this run, which ends them itself.
    with stopping.undisturbed(), elsewhere(), _startable():
        executor = engine.executor()
        while left and len(futures) < engine.ahead:
            at, task = left.pop()
            futures[executor.submit(checked, sent, run, task)] = at


@contextlib.contextmanager
def _startable() -> Iterator[None]:
    """Say in one sentence that the system refuses to start workers; loky hides its error behind one of its own."""
    try:
        yield
    except (OSError, UnboundLocalError) as error:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, OSError):
            cause = cause.__context__
        if cause is None:
            raise
        raise JaliError(
            f"Cannot start workers: {cause.strerror or cause}; use --workers 1, or raise the limit."
        ) from error


def _failed(future: Future[Result]) -> bool:
    return future.cancelled() or future.exception() is not None
