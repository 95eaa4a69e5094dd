"""The terminal and the folder of a run: progress, one sentence for a mistake, and nothing left behind."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from jali import stopping
from jali.core.errors import JaliError

if TYPE_CHECKING:
    from rich.console import Console

    from jali.parallel import Watch

EVERY = 10.0  # seconds between two lines of progress in a log
NOTEBOOK = "ZMQInteractiveShell"  # the shell of a notebook's kernel; that of a terminal has another name


@contextlib.contextmanager
def writable(out: Path, shared: bool = False) -> Iterator[None]:
    """Fail before the work, not after it, and leave neither workers nor anything unfinished nor an empty folder.

    shared: other runs of the same kind, such as other shards, may write to the folder at the same time.
    """
    from jali import parallel
    from jali.store import sweep, sweep_killed

    try:
        fresh = not out.exists()
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise JaliError(f"Cannot write to {out}: {error.strerror}; choose another folder with --out.") from None
    if not os.access(out, os.W_OK):
        raise JaliError(f"Cannot write to {out}: it is not writable; choose another folder with --out.")
    try:
        with locked(out, shared):
            sweep_killed(out)
            parallel.sweep_killed()
            yield
    except stopping.Stopped:
        with stopping.undisturbed():
            parallel.stop()
            sweep(out)
        raise
    finally:
        with contextlib.suppress(FileNotFoundError):  # somebody may have removed the folder meanwhile
            if fresh and not any(out.iterdir()):
                out.rmdir()


@contextlib.contextmanager
def locked(out: Path, shared: bool = False) -> Iterator[None]:
    """Keep a second run out of a folder while one writes to it; the folder itself is locked, so no file is left."""
    try:
        import fcntl
    except ImportError:  # Windows has no such lock
        yield
        return
    handle = os.open(out, os.O_RDONLY)
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise JaliError(
            f"Another run writes to {out} now: wait until it ends, or choose another folder with --out."
        ) from None
    except OSError:  # a file system without locks
        pass
    try:
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def watching() -> Iterator[Watch]:
    """Progress bars on a terminal, lines in a log or pipe; what is printed while bars are shown is erased with them."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    stderr = Console(stderr=True)
    if not stderr.is_terminal:
        yield logged(lambda line: stderr.print(line, markup=False, highlight=False, soft_wrap=True))
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=stderr, transient=True) as bars:

        def watch(label: str) -> Any:
            task = bars.add_task(label, total=None)
            return lambda done, total: bars.update(task, completed=done, total=total)

        yield watch


def forgive() -> None:
    """Print what the terminal's encoding lacks as "?", not as an error after the work is done."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
            stream.reconfigure(errors="replace")


def logged(say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> Watch:
    """Progress as lines of a log, one in `EVERY` seconds and one at the end; a stage of a few seconds says nothing."""

    def watch(label: str) -> Any:
        began = clock()
        last = began

        def step(done: int, total: int) -> None:
            nonlocal last
            now = clock()
            ends = done == total and last > began
            if now - last >= EVERY or ends:
                last = now
                say(line_of(label, done, total, now - began))

        return step

    return watch


def line_of(label: str, done: int, total: int, seconds: float) -> str:
    """How far a stage is, and about how long it will take.

    >>> line_of("attacking", 3, 12, 30.0), line_of("attacking", 12, 12, 125.0)
    ('attacking: 3 of 12, about 90 s left', 'attacking: 12 of 12, took 125 s')
    """
    if done >= total:
        return f"{label}: {done:,} of {total:,}, took {seconds:.0f} s"
    left = f", about {seconds / done * (total - done):.0f} s left" if done else ""
    return f"{label}: {done:,} of {total:,}{left}"


@contextlib.contextmanager
def in_notebook() -> Iterator[Watch | None]:
    """Progress as lines below the cell of a notebook, gone at the end; None where there is no notebook."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if type(shell).__name__ != NOTEBOOK:
        yield None
        return
    shown = sys.modules["IPython"].display.display({"text/plain": ""}, raw=True, display_id=True)
    lines: dict[str, str] = {}

    def watch(label: str) -> Any:
        began = time.monotonic()

        def step(done: int, total: int) -> None:
            lines[label] = line_of(label, done, total, time.monotonic() - began)
            shown.update({"text/plain": "\n".join(lines.values())}, raw=True)

        return step

    try:
        yield watch
    finally:
        shown.update({"text/plain": ""}, raw=True)


def console() -> Console:
    """Standard output, as wide as the terminal; 140 columns in a pipe."""
    from rich.console import Console

    return Console(width=None if sys.stdout is not None and sys.stdout.isatty() else 140)


def complain(sentence: str, code: int) -> NoReturn:
    """Say one sentence on standard error and exit."""
    from rich.console import Console

    # A message may quote a file that somebody else wrote: no control character of it reaches the terminal.
    sentence = "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in sentence)
    Console(stderr=True).print(sentence, markup=False, highlight=False, soft_wrap=True)
    raise SystemExit(code)
