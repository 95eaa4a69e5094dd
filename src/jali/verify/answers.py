"""What a release answered, as numbers: also where it raised, gave nothing or NaN, or a list of another length."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from jali.core.values import Bools, Floats, Ints
from jali.privacy.mechanisms import CallsDifferError

MOST_KINDS = 20  # kinds of answers with a column of their own: exceptions, shapes
MOST_COLUMNS = 400  # numbers of one answer that are looked at: those that differ most while choosing
EXACT = 2**53  # whole numbers up to here are floats
HALF = 2**24 - 1
LARGE = 1e100  # so that squares are finite
NUMBERS = "numbers of shape"
NONE = "it returned None"
SYMBOLS = (np.isnan, np.isposinf, np.isneginf)


@dataclass(frozen=True)
class Answers:
    """Numbers (n, L) of n answers, zero after the end of each; how many each has (n,); what kind each is, in words.

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
        """Which answers (n,) hold a finite number."""
        inside = np.arange(self.numbers.shape[1]) < self.length[:, None]
        return np.asarray((inside & np.isfinite(self.numbers)).any(axis=1))

    def comparable(self) -> Floats:
        """Rows (n, L + 2) that are equal, NaN to NaN, where the answers are."""
        kinds = [float(zlib.crc32(kind.encode(errors="replace"))) for kind in self.kind]
        return np.column_stack([self.numbers, self.length, kinds])

    def differing(self, other: Answers) -> float:
        """The share of answers that differ from the other one in their place, by more than rounding."""
        rows = joined(self, other).comparable()
        same = np.isclose(rows[: len(self)], rows[len(self) :], rtol=1e-12, atol=0.0, equal_nan=True)
        return float(1 - same.all(axis=1).mean())


def vectors(numbers: Floats) -> Answers:
    """Answers of one length from an array (n, k)."""
    n, k = numbers.shape
    return Answers(np.asarray(numbers, dtype=np.float64), np.full(n, k), (f"{NUMBERS} ({k},)",) * n)


def called(calls: Sequence[Callable[[], Any]]) -> Answers:
    """What calls return or raise; numbers of any shape are laid out in a row."""
    made = [_one(call) for call in calls]
    length = np.array([len(numbers) for numbers, _ in made])
    padded = np.zeros((len(made), length.max()))
    for row, (numbers, _) in zip(padded, made, strict=True):
        row[: len(numbers)] = numbers
    return Answers(padded, length, tuple(kind for _, kind in made))


def nothing(count: int, why: str) -> Answers:
    """As many answers that could not be given, for one reason."""
    return Answers(np.zeros((count, 0)), np.zeros(count, dtype=np.int64), (why,) * count)


def joined(first: Answers, second: Answers) -> Answers:
    """The answers of one after those of the other."""
    width = max(first.numbers.shape[1], second.numbers.shape[1])
    padded = [np.pad(a.numbers, ((0, 0), (0, width - a.numbers.shape[1]))) for a in (first, second)]
    return Answers(np.concatenate(padded), np.concatenate([first.length, second.length]), first.kind + second.kind)


@dataclass(frozen=True)
class Probe:
    """A few answers of two neighbouring data sets with the same noise; again: those of the first once more."""

    before: Answers
    after: Answers
    again: Answers

    @property
    def silent(self) -> bool:
        """Whether every answer is the same failure: no finite number, and of one kind on both sides.

        An exception whose text is always the same on one side and another one on the other side is an answer.
        """
        both = joined(self.before, self.after)
        texts = set(self.before.kind), set(self.after.kind)
        told = texts[0] != texts[1] and len(texts[0]) == len(texts[1]) == 1
        return not both.finite().any() and len({_stem(kind) for kind in both.kind}) == 1 and not told

    @property
    def failed(self) -> bool:
        """Whether that failure is an exception, or something that is not made of numbers; NaN is an answer."""
        return self.silent and not self.before.kind[0].startswith((NUMBERS, NONE))

    @property
    def repeats(self) -> bool:
        """Whether the noise could be held fixed."""
        return self.before.differing(self.again) == 0

    @property
    def changed(self) -> float:
        """The share of answers that changed with the record."""
        return self.before.differing(self.after)

    @property
    def key(self) -> bytes:
        """What was seen: pairs of data sets in which all of it is the same are one."""
        return self.before.comparable().tobytes() + b"|" + self.after.comparable().tobytes()


def _one(call: Callable[[], Any]) -> tuple[Floats, str]:
    """Numbers (k,) that a call returned, and what kind of answer that is."""
    none: Floats = np.zeros(0)
    try:
        value = call()
    except CallsDifferError:  # a finding of the check that called, not an answer
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
    """Whole numbers too large for a float as their upper and lower halves; None where all of them fit."""
    values = [int(v) for v in raw.ravel()]
    if all(abs(v) <= EXACT for v in values):
        return None
    return np.array([[v >> 48, (v >> 24) & HALF, v & HALF] for v in values], dtype=object)


# --- one table for a statistic to learn from -----------------------------------------------------------------------


@dataclass(frozen=True)
class Coding:
    """How answers become finite rows (n, k): fixed on some draws, so that others decide nothing.

    Of answers that are all alike in kind and finite, their numbers. Else beside them, zero-filled: how many numbers
    there are, one column per kind, and one per place and symbol where NaN or an infinity came and went.
    """

    places: Ints
    lengths: bool
    kinds: tuple[str, ...]
    symbols: tuple[tuple[int, int], ...]

    def table(self, answers: Answers) -> Floats:
        """Rows (n, k); an answer that is longer than any before is cut, and a new kind has no column."""
        short = max(0, int(self.places.max(initial=-1)) + 1 - answers.numbers.shape[1])
        numbers = np.pad(answers.numbers, ((0, 0), (0, short)))[:, self.places]
        marks = [SYMBOLS[which](numbers[:, place]) for which, place in self.symbols]
        kinds = [np.array([known in (kind, _stem(kind)) for kind in answers.kind]) for known in self.kinds]
        lengths = [answers.length] if self.lengths else []
        plain = np.clip(np.where(np.isfinite(numbers), numbers, 0.0), -LARGE, LARGE)
        return np.column_stack([plain, *lengths, *kinds, *marks]).astype(np.float64)


def coding(answers: Answers, first: Bools) -> Coding:
    """The coding for answers (n,), of which `first` come from the first of two data sets.

    >>> mixed = called([lambda: 2.0, lambda: np.nan, lambda: [1.0, 3.0]])
    >>> coding(mixed, np.array([True, False, False])).table(mixed)[:, :3]
    array([[2., 0., 1.],
           [0., 0., 1.],
           [1., 3., 2.]])
    """
    places = _places(answers.numbers, first)
    numbers = answers.numbers[:, places]
    found = [(which, place) for which in range(len(SYMBOLS)) for place in range(numbers.shape[1])]
    symbols = tuple(at for at in found if 0 < np.count_nonzero(SYMBOLS[at[0]](numbers[:, at[1]])) < len(answers))
    return Coding(places, bool(np.ptp(answers.length)), _kinds(answers), symbols)


def _kinds(answers: Answers) -> tuple[str, ...]:
    """Kinds that come and go, the most frequent first: exceptions with their words and by their class alone, shapes."""
    count = Counter(name for kind in answers.kind for name in {kind, _stem(kind)})
    return tuple(name for name, often in count.most_common(MOST_KINDS) if often < len(answers))


def _stem(kind: str) -> str:
    """A kind without the words of an exception."""
    return kind.partition(":")[0]


def _places(numbers: Floats, first: Bools) -> Ints:
    """The places of an answer that are looked at: all, or of very many those whose mean differs most for its spread."""
    if numbers.shape[1] <= MOST_COLUMNS:
        return np.arange(numbers.shape[1])
    known = np.clip(np.where(np.isfinite(numbers), numbers, 0.0), -LARGE, LARGE)
    gap = np.abs(known[first].mean(axis=0) - known[~first].mean(axis=0))
    spread = known[first].std(axis=0) + known[~first].std(axis=0)
    effect = gap / np.maximum(spread, 1e-9 * np.maximum(gap, 1e-300))
    return np.sort(np.argsort(-effect, kind="stable")[:MOST_COLUMNS])
