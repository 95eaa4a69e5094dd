"""The terminal and the folder of a run: progress, one sentence for a mistake, and nothing left behind."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from jali import stopping
from jali.core.errors import JaliError

if TYPE_CHECKING:
    from rich.console import Console

    from jali.parallel import Watch


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
    """Progress bars on a terminal, silence in a pipe; whatever is printed meanwhile is erased with the bars."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    stderr = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=stderr, transient=True, disable=not stderr.is_terminal) as bars:

        def watch(label: str) -> Any:
            task = bars.add_task(label, total=None)
            return lambda done, total: bars.update(task, completed=done, total=total)

        yield watch


def forgive() -> None:
    """Print what the terminal's encoding lacks as "?", not as an error after the work is done."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
            stream.reconfigure(errors="replace")


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
