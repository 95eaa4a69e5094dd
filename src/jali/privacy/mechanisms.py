"""Declared mechanisms: the only places where values that depend on training data may become public.

A private part draws its noisy values through `released`, and may `mark` other values that it computes from training
data. Neither changes what the caller gets. But the data-dependence check can record what was released on one data set
and replay it on a neighbouring one. If the answers still differ, the difference did not come through a declared
mechanism, whichever library computed it. Replaying the marked values as well, one at a time, shows which of them
carried it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Floats


class CallsDifferError(JaliError):
    """The two data sets call different mechanisms."""


@dataclass
class Tape:
    """A recording: what mechanisms released, in order (name, constants of the noise, value), and the marked values."""

    releases: list[tuple[str, dict[str, float], Floats]] = field(default_factory=list)
    marks: dict[str, Floats] = field(default_factory=dict)


@dataclass
class _Replay:
    """A tape that is replayed: its releases, and the marked values named in `patched`."""

    tape: Tape
    patched: frozenset[str]
    changed: list[str]
    at: int = 0

    def release(self, name: str, constants: dict[str, float]) -> Floats:
        """The next release on the tape, which must have this name."""
        if self.at >= len(self.tape.releases) or self.tape.releases[self.at][0] != name:
            raise CallsDifferError(
                f"Which mechanisms are called depends on the data: {name!r} was called where another one was expected."
            )
        _, before, value = self.tape.releases[self.at]
        self.changed += [f"{key} of {name}" for key in constants if constants[key] != before.get(key)]
        self.at += 1
        return value.copy()


_RECORD: ContextVar[Tape | None] = ContextVar("record", default=None)
_REPLAY: ContextVar[_Replay | None] = ContextVar("replay", default=None)


def released(name: str, make: Callable[[], Floats], **constants: float) -> Floats:
    """The value that a mechanism of this name releases; `constants` of its noise must not depend on the data.

    >>> released("answer", lambda: np.array([1.0]), scale=2.0)
    array([1.])
    """
    replay = _REPLAY.get()
    tape = _RECORD.get()
    if replay is not None:
        return replay.release(name, constants)
    value = np.asarray(make(), dtype=np.float64)
    if tape is not None:
        tape.releases.append((name, dict(constants), value.copy()))
    return value


def mark(name: str, value: Floats) -> Floats:
    """The value itself, declared by name to the data-dependence check as computed from training data.

    >>> mark("weights", np.array([1.0]))
    array([1.])
    """
    replay = _REPLAY.get()
    tape = _RECORD.get()
    if replay is not None and name in replay.patched and name in replay.tape.marks:
        return replay.tape.marks[name].copy()
    if tape is not None:
        tape.marks[name] = np.array(value, dtype=np.float64)
    return value


@contextmanager
def recording() -> Iterator[Tape]:
    """Record what is released and marked inside the block.

    >>> with recording() as tape:
    ...     _ = released("answer", lambda: np.array([1.0]))
    >>> len(tape.releases)
    1
    """
    token = _RECORD.set(tape := Tape())
    try:
        yield tape
    finally:
        _RECORD.reset(token)


@contextmanager
def replaying(tape: Tape, patched: frozenset[str] = frozenset()) -> Iterator[list[str]]:
    """Replay the releases of a tape instead of new ones; yields the names of the constants of noise that differ.

    >>> with recording() as tape:
    ...     _ = released("answer", lambda: np.array([1.0]))
    >>> with replaying(tape):
    ...     released("answer", lambda: np.array([2.0]))
    array([1.])
    """
    replay = _Replay(tape, patched, [])
    token = _REPLAY.set(replay)
    try:
        yield replay.changed
    finally:
        _REPLAY.reset(token)
