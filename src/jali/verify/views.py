"""Views of answers: what a distinguisher looks at, as tables of numbers or of whole-number codes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from jali.core.values import Bools, Floats, Ints
from jali.verify.answers import Answers
from jali.verify.coding import Coding, coding

WHOLE = "the whole answer"
DIRECTION = "its direction"
LENGTH = "its length"
TOGETHER = "several numbers together"
PATTERN = "its pattern"
BITS = "its last bits"
RECORD = "values of the record"
NUMERIC = (WHOLE, DIRECTION, LENGTH, TOGETHER)
ROUNDING = {BITS: float(np.log(2))}  # epsilon that rounding of sums to even alone can show in a view
JOINT = 12  # most numbers whose signs, order or last bits are looked at jointly
ORDERED = 6  # most numbers whose order is a pattern


@dataclass(frozen=True)
class Views:
    """The views of answers, fixed on the draws for learning.

    middle (L,): the median of each number. record: the values that only one of the two data sets holds, as two arrays.
    """

    code: Coding
    middle: Floats
    record: tuple[Floats, Floats]

    def table(self, view: str, answers: Answers) -> Floats:
        """One view of answers (T,), as a table (T, k); patterns and last bits are whole numbers, a code each."""
        return MAKE[view](self, answers)


def views(answers: Answers, first: Bools, record: tuple[Floats, Floats]) -> Views:
    """The views for answers (T,) of two data sets; first (T,): those of the first."""
    code = coding(answers, first)
    numbers = _joint(code, answers)
    known = np.where(np.isfinite(numbers), numbers, 0.0)
    return Views(code, np.median(known, axis=0) if known.shape[1] else np.zeros(0), record)


# --- views in numbers ----------------------------------------------------------------------------------------------


def whole(answers: Floats) -> Floats:
    """The answers; if they have more than two numbers, also their directions and lengths."""
    return answers if answers.shape[1] < 3 else np.hstack([answers, direction(answers), length(answers)])


def length(answers: Floats) -> Floats:
    """The Euclidean norms (T, 1) of answers."""
    return np.asarray(np.linalg.norm(answers, axis=1, keepdims=True))


def direction(answers: Floats) -> Floats:
    """Unit vectors up to sign, because the sign only says on which side of the decision boundary a record lies."""
    size = length(answers)
    unit = np.divide(answers, size, out=np.zeros_like(answers), where=size > 0)
    largest = np.take_along_axis(unit, np.abs(unit).argmax(axis=1)[:, None], axis=1)
    return np.asarray(unit * np.where(largest < 0, -1.0, 1.0))


def together(answers: Floats) -> Floats:
    """What several numbers have in common: sum, its fraction, alternating sum, product, extremes and spread (T, 8)."""
    total = answers.sum(axis=1)
    sign = np.where(np.arange(answers.shape[1]) % 2, -1.0, 1.0)
    size = np.log(np.maximum(np.abs(answers), 1e-300)).sum(axis=1)
    product = np.prod(np.sign(answers), axis=1)
    columns = [total, total - np.floor(total), answers @ sign, size, product]
    extremes = [answers.min(axis=1), answers.max(axis=1), np.ptp(answers, axis=1)]
    return np.column_stack([*columns, *extremes])


# --- views in codes ------------------------------------------------------------------------------------------------


def _pattern(known: Views, answers: Answers) -> Floats:
    """Codes (T, 9) of kind, length, signs, order, ties, halves, whole numbers, zeros and what is not finite."""
    numbers = _joint(known.code, answers)
    finite = np.isfinite(numbers)
    plain = np.where(finite, numbers, 0.0)
    halves = plain > known.middle
    ordered = np.argsort(plain[:, :ORDERED], axis=1, kind="stable")
    ties = np.sort(plain, axis=1)
    codes = [
        answers.codes(),
        answers.length,
        _hashed(np.signbit(numbers)),
        _hashed(ordered),
        (np.diff(ties, axis=1) == 0).sum(axis=1),
        _hashed(halves),
        (plain == np.round(plain)).sum(axis=1),
        (numbers == 0).sum(axis=1),
        _hashed(np.isnan(numbers) + 2 * np.isposinf(numbers) + 4 * np.isneginf(numbers)),
    ]
    return np.column_stack(codes).astype(np.float64)


def _bits(known: Views, answers: Answers) -> Floats:
    """Codes of the lowest bits of numbers: their parity, how many are zero, and each bit of each number.

    Values are not looked at beside them, and each bit of a number alone. Noise in double precision is coarser where a
    sum cancels, which together with the value tells the exact result (Mironov 2012): that is an assumption of claims
    about noise in floating-point numbers, and not what is tested here.
    """
    numbers = np.ascontiguousarray(_joint(known.code, answers))
    raw = np.where(np.isfinite(numbers), numbers, 0.0).view(np.int64)
    lowest = raw & 1
    fraction = raw & (2**52 - 1)
    zeros = np.log2(np.maximum(fraction & -fraction, 1))  # how many of the lowest bits are zero
    coarse = np.where(fraction == 0, 3, np.minimum(zeros // 16, 3))
    codes = [lowest.sum(axis=1) % 2, _hashed(coarse)]
    single = [(raw >> place) & 1 for place in range(4)]
    return np.column_stack([*codes, *single]).astype(np.float64)


def _record(known: Views, answers: Answers) -> Floats:
    """How many numbers (T, 1) of an answer are values that only the first data set holds, less those of the second."""
    here, there = (np.isin(answers.numbers, values) for values in known.record)
    inside = np.arange(answers.numbers.shape[1]) < answers.length[:, None]
    return np.asarray(((here & inside).sum(axis=1) - (there & inside).sum(axis=1))[:, None], dtype=np.float64)


def _joint(code: Coding, answers: Answers) -> Floats:
    """The first numbers of answers that are looked at jointly."""
    places = code.places[:JOINT]
    short = max(0, int(places.max(initial=-1)) + 1 - answers.numbers.shape[1])
    return np.asarray(np.pad(answers.numbers, ((0, 0), (0, short)))[:, places])


def _hashed(codes: Ints | Bools) -> Ints:
    """One code (T,) for each row of small whole numbers; equal rows have equal codes."""
    if not codes.shape[1]:
        return np.zeros(len(codes), dtype=np.int64)
    weight = 1_000_003 ** np.arange(codes.shape[1], dtype=object) % 2_147_483_647
    return np.asarray(codes.astype(np.int64) @ weight.astype(np.int64) % 2_147_483_647)


def _plain(make: Callable[[Floats], Floats]) -> Callable[[Views, Answers], Floats]:
    return lambda known, answers: make(known.code.table(answers))


MAKE: dict[str, Callable[[Views, Answers], Floats]] = {
    WHOLE: _plain(whole),
    DIRECTION: _plain(direction),
    LENGTH: _plain(length),
    TOGETHER: _plain(together),
    PATTERN: _pattern,
    BITS: _bits,
    RECORD: _record,
}


def worthwhile(answers: Answers) -> tuple[str, ...]:
    """The views in which these answers can differ: one number has no direction, and nothing to combine."""
    several = answers.numbers.shape[1] > 1
    return tuple(view for view in MAKE if several or view not in (DIRECTION, TOGETHER))


assert set(NUMERIC) < set(MAKE)
