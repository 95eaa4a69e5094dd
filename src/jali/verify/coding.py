"""Answers of any kind as one table of finite numbers, from which a classifier can learn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.core.values import Bools, Floats, Ints
from jali.verify.answers import Answers
from jali.verify.words import flags, most_written, telling, written

MOST_COLUMNS = 400  # most numbers of an answer that are used: those that differ most between the data sets
LARGE = 1e100  # so that squares are finite
SYMBOLS = (np.isnan, np.isposinf, np.isneginf)


@dataclass(frozen=True)
class Coding:
    """How answers become finite rows (n, k); it is fixed on the draws for learning, whatever later draws are.

    A row holds the numbers of an answer, with zeros for what is missing or not finite. If answers differ in length,
    kind or finiteness, further columns hold the length, one flag for each telling word of the kinds, the numbers in
    messages of exceptions, and one flag for each position and symbol (NaN or an infinity) that occurs in some answers
    but not in all.
    """

    places: Ints
    lengths: bool
    words: tuple[str, ...]
    messages: int
    symbols: tuple[tuple[int, int], ...]

    def table(self, answers: Answers) -> Floats:
        """Rows (n, k); an answer that is longer than those for learning is cut, and a new kind gets no column."""
        short = max(0, int(self.places.max(initial=-1)) + 1 - answers.numbers.shape[1])
        numbers = np.pad(answers.numbers, ((0, 0), (0, short)))[:, self.places]
        marks = [SYMBOLS[which](numbers[:, place]) for which, place in self.symbols]
        lengths = [answers.length] if self.lengths else []
        texts = [flags(answers.kind, self.words), written(answers.kind, self.messages)]
        plain = np.clip(np.where(np.isfinite(numbers), numbers, 0.0), -LARGE, LARGE)
        return np.column_stack([plain, *lengths, *texts, *marks]).astype(np.float64)


def coding(answers: Answers, first: Bools) -> Coding:
    """The coding for answers (n,); first (n,): those from the first of the two data sets.

    >>> from jali.verify.answers import called
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
    kinds = answers.kind
    return Coding(places, bool(np.ptp(answers.length)), telling(kinds, first), most_written(kinds), symbols)


def _places(numbers: Floats, first: Bools) -> Ints:
    """The positions of an answer that are used: all, or those whose means differ most relative to their spread."""
    if numbers.shape[1] <= MOST_COLUMNS:
        return np.arange(numbers.shape[1])
    known = np.clip(np.where(np.isfinite(numbers), numbers, 0.0), -LARGE, LARGE)
    gap = np.abs(known[first].mean(axis=0) - known[~first].mean(axis=0))
    spread = known[first].std(axis=0) + known[~first].std(axis=0)
    effect = gap / np.maximum(spread, 1e-9 * np.maximum(gap, 1e-300))
    return np.sort(np.argsort(-effect, kind="stable")[:MOST_COLUMNS])
