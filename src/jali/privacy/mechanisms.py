"""Declared mechanisms: the only places where what depends on training data may become public.

A private part draws its noisy values through `released`, and may `mark` other values that it computes from training
data. Nothing changes for the caller. But a check can keep what was released on one data set and give it back on
another: whatever still differs between the two answers has reached them past every declared mechanism, whichever
library did the arithmetic in between; and giving back marked values as well, one by one, tells which of them it was.
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
    """Other mechanisms are called on one data set than on the other."""


@dataclass
class Tape:
    """What mechanisms released, in order (name, constants of the noise, value), and the values that were marked."""

    releases: list[tuple[str, dict[str, float], Floats]] = field(default_factory=list)
    marks: dict[str, Floats] = field(default_factory=dict)


@dataclass
class _Replay:
    """A tape being given back: its releases, and the marked values named in `patched`."""

    tape: Tape
    patched: frozenset[str]
    changed: list[str]
    at: int = 0

    def release(self, name: str, constants: dict[str, float]) -> Floats:
        if self.at >= len(self.tape.releases) or self.tape.releases[self.at][0] != name:
            raise CallsDifferError(
                f"Which mechanisms are called depends on the data: at {name!r} another one was expected."
            )
        _, before, value = self.tape.releases[self.at]
        self.changed += [f"{key} of {name}" for key in constants if constants[key] != before.get(key)]
        self.at += 1
        return value.copy()


_RECORD: ContextVar[Tape | None] = ContextVar("record", default=None)
_REPLAY: ContextVar[_Replay | None] = ContextVar("replay", default=None)


def released(name: str, make: Callable[[], Floats], **constants: float) -> Floats:
    """What the mechanism of this name makes; `constants` are those of its noise, which must not come from the data.

    >>> released("answer", lambda: np.array([1.0]), scale=2.0)
    array([1.])
    """
    replay, tape = _REPLAY.get(), _RECORD.get()
    if replay is not None:
        return replay.release(name, constants)
    value = np.asarray(make(), dtype=np.float64)
    if tape is not None:
        tape.releases.append((name, dict(constants), value.copy()))
    return value


def mark(name: str, value: Floats) -> Floats:
    """The value, known by name to a check as computed from training data.

    >>> mark("weights", np.array([1.0]))
    array([1.])
    """
    replay, tape = _REPLAY.get(), _RECORD.get()
    if replay is not None and name in replay.patched and name in replay.tape.marks:
        return replay.tape.marks[name].copy()
    if tape is not None:
        tape.marks[name] = np.array(value, dtype=np.float64)
    return value


@contextmanager
def recording() -> Iterator[Tape]:
    """Keep what is released and marked inside.

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
    """Give back what a tape kept, in place of new releases; yields the constants of noise that differ, by name.

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
