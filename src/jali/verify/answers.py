"""The answers of a release as numbers, even if it raises, returns None or NaN, or returns lists of varying length."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from jali.core.values import Bools, Floats, Ints
from jali.privacy.mechanisms import CallsDifferError

EXACT = 2**53  # whole numbers up to this one are exact as floats
HALF = 2**24 - 1
NUMBERS = "numbers of shape"
NONE = "it returned None"


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
        kinds = [float(zlib.crc32(kind.encode(errors="replace"))) for kind in self.kind]
        return np.column_stack([self.numbers, self.length, kinds])

    def differing(self, other: Answers) -> float:
        """The share of answers that differ from the other answer at the same position by more than rounding."""
        rows = joined(self, other).comparable()
        same = np.isclose(rows[: len(self)], rows[len(self) :], rtol=1e-12, atol=0.0, equal_nan=True)
        return float(1 - same.all(axis=1).mean())


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
    none: Floats = np.zeros(0)
    try:
        value = call()
    except CallsDifferError:  # a result of the data-dependence check, not an answer
        raise
    except (Exception, SystemExit) as error:  # whatever a user's code may raise
        return none, f"it raised {type(error).__name__}: {error}".rstrip(": ")
    if value is None:
        return none, NONE
    try:
        raw = np.asarray(value)
        if raw.dtype.kind in "SU":
            raise TypeError
        if raw.dtype.kind == "c":
            raw = np.stack([raw.real, raw.imag])
        if raw.dtype.kind in "iuO" and (exact := _whole(raw)) is not None:
            raw = exact
        numbers = raw.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return none, f"it returned {type(value).__name__}, which is not made of numbers"
    return numbers.ravel(), f"{NUMBERS} {numbers.shape}"


def _whole(raw: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    """Whole numbers that are too large for a float, split into three parts; None if all of them fit."""
    values = [int(v) for v in raw.ravel()]
    if all(abs(v) <= EXACT for v in values):
        return None
    return np.array([[v >> 48, (v >> 24) & HALF, v & HALF] for v in values], dtype=object)


def stem(kind: str) -> str:
    """The kind of an answer without the message of its exception."""
    return kind.partition(":")[0]
