"""The answers of a release as numbers, even if it raises, returns None or NaN, or returns lists of varying length."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jali.core.values import Bools, Floats, Ints
from jali.privacy.mechanisms import CallsDifferError
from jali.verify.contents import EXACT, NUMBERS, numbers_in

NONE = "it returned None"
RAISED = "it raised"
SCALAR = f"{NUMBERS} ()"
PLAIN = {float: SCALAR, np.float64: SCALAR, bool: f"{SCALAR} of type bool", int: f"{SCALAR} of type int64"}


@dataclass(frozen=True)
class Answers:
    """n answers: numbers (n, L), padded with zeros; length (n,): how many numbers each has; kind: of each, in words.

    >>> given = called([lambda: [1.0, np.nan], lambda: None, lambda: {}["x"]])
    >>> given.kind
    ('numbers of shape (2,)', 'it returned None', "it raised KeyError: 'x'")
    >>> given.finite().tolist()
    [True, False, False]
    """

    numbers: Floats
    length: Ints
    kind: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.kind)

    def finite(self) -> Bools:
        """Which answers (n,) contain a finite number."""
        inside = np.arange(self.numbers.shape[1]) < self.length[:, None]
        return np.asarray((inside & np.isfinite(self.numbers)).any(axis=1))

    def comparable(self) -> Floats:
        """Rows (n, L + 2) that are equal if and only if the answers are; NaN counts as equal to NaN."""
        return np.column_stack([self.numbers, self.length, self.codes()])

    def codes(self) -> Floats:
        """A number (n,) for the kind of each answer."""
        code = {kind: float(zlib.crc32(kind.encode(errors="backslashreplace"))) for kind in set(self.kind)}
        return np.array([code[kind] for kind in self.kind])

    def differing(self, other: Answers) -> float:
        """The share of answers that differ from the other answer at the same position, if only in their last bit."""
        rows = joined(self, other).comparable()
        bits = np.where(np.isnan(rows), np.nan, rows).view(np.int64)
        return float((bits[: len(self)] != bits[len(self) :]).any(axis=1).mean())


def vectors(numbers: Floats) -> Answers:
    """Answers of equal length, from an array (n, k)."""
    n, k = numbers.shape
    return Answers(np.asarray(numbers, dtype=np.float64), np.full(n, k), (f"{NUMBERS} ({k},)",) * n)


def called(calls: Sequence[Callable[[], Any]]) -> Answers:
    """What calls return or raise; arrays of any shape are flattened."""
    made = [_one(call) for call in calls]
    length = np.array([len(numbers) for numbers, _ in made])
    padded = np.zeros((len(made), length.max()))
    for row, (numbers, _) in zip(padded, made, strict=True):
        row[: len(numbers)] = numbers
    return Answers(padded, length, tuple(kind for _, kind in made))


def nothing(count: int, why: str) -> Answers:
    """`count` missing answers, all for the same reason."""
    return Answers(np.zeros((count, 0)), np.zeros(count, dtype=np.int64), (why,) * count)


def joined(first: Answers, second: Answers) -> Answers:
    """The answers of the first, followed by those of the second."""
    width = max(first.numbers.shape[1], second.numbers.shape[1])
    padded = [np.pad(a.numbers, ((0, 0), (0, width - a.numbers.shape[1]))) for a in (first, second)]
    return Answers(np.concatenate(padded), np.concatenate([first.length, second.length]), first.kind + second.kind)


def _one(call: Callable[[], Any]) -> tuple[Floats, str]:
    """The numbers (k,) that a call returned, and the kind of answer."""
    try:
        value = call()
    except CallsDifferError:  # a result of the data-dependence check, not an answer
        raise
    except (Exception, SystemExit) as error:  # whatever a user's code may raise
        return np.zeros(0), f"{RAISED} {type(error).__name__}: {error}".rstrip(": ")
    if type(value) in PLAIN and abs(value) < EXACT:  # most answers are one number, and are read here for speed
        return np.array([value], dtype=np.float64), PLAIN[type(value)]
    if value is None:
        return np.zeros(0), NONE
    try:
        return numbers_in(value)
    except Exception as error:  # whatever an object may raise that is looked into
        return np.zeros(0), f"it returned {type(value).__name__}, which cannot be read: {type(error).__name__}"


def stem(kind: str) -> str:
    """The kind of an answer without the message of its exception."""
    return kind.partition(":")[0]
