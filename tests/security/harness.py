"""What all fuzzers share: hostile inputs go in, and what comes out must be a result or one sentence.

Counted as escaped: any other exception, a warning, an input that takes too long, a sentence with a line break, with a
control character or longer than a screen, a sentence that quotes a person's value, and code of the input that ran.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import shutil
import signal
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from jali.core.errors import JaliError

T = TypeVar("T")
Rng = np.random.Generator
Use = Callable[[Any], object]
Named = tuple[str, Any]

SENTINEL = "Zaphod7Sentinel"  # a value of one person: it stands in cells, and must stand nowhere else
CANARY = Path(tempfile.gettempdir()) / f"executed-{os.getpid()}"  # made by every payload that runs
LONGEST = 1000  # characters of a sentence
PATIENCE = 20.0  # seconds of computing for one input


class TooSlowError(BaseException):
    """An input took longer than anybody waits; not an Exception, so that no reader takes it for a damaged file."""


class Payload:
    """An object whose unpickling makes the canary."""

    def __reduce__(self) -> tuple[Any, tuple[str, ...]]:
        return os.mkdir, (str(CANARY),)


def pickled() -> bytes:
    """A pickle that runs code when it is loaded."""
    return pickle.dumps(Payload(), protocol=2)


def code() -> str:
    """Python that makes the canary."""
    return f"__import__('os').mkdir({str(CANARY)!r})"


def escapes(inputs: Iterable[Named], use: Use) -> list[str]:
    """Give every input to its use; what is neither a result nor one sentence, in words."""
    found = []
    for name, item in inputs:
        try:
            with patience(PATIENCE), warnings.catch_warnings():
                warnings.simplefilter("error")
                use(item)
        except JaliError as error:
            found += [f"{name}: {why}: {str(error)[:200]!r}" for why in faults(str(error))]
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            found.append(f"{name}: {type(error).__name__}: {str(error)[:200]}")
        if CANARY.exists():
            found.append(f"{name}: its code ran")
            shutil.rmtree(CANARY)
    return found


def faults(sentence: str) -> list[str]:
    """What is wrong with a sentence about a hostile input."""
    found = []
    if SENTINEL in sentence:
        found.append("a person's value is shown")
    if len(sentence) > LONGEST:
        found.append(f"the sentence has {len(sentence)} characters")
    if "\n" in sentence.strip() or "Traceback" in sentence:
        found.append("it is more than a sentence")
    return found


@contextlib.contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Raise `TooSlowError` in a block that takes longer; only the main thread can be interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def late(*_: object) -> None:
        raise TooSlowError(f"more than {seconds:g} s of computing")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """A folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        yield Path(name)


def pick(rng: Rng, some: Any) -> Any:
    """One of several things of any type."""
    return some[int(rng.integers(len(some)))]
