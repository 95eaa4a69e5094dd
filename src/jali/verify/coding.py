"""Answers of any kind as one table of finite numbers, from which a statistic can learn."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from jali.core.values import Bools, Floats, Ints
from jali.verify.answers import Answers, stem

MOST_KINDS = 20  # kinds of answers with a column of their own: exceptions, shapes
MOST_COLUMNS = 400  # numbers of one answer that are looked at: those that differ most while choosing
LARGE = 1e100  # so that squares are finite
SYMBOLS = (np.isnan, np.isposinf, np.isneginf)


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
        kinds = [np.array([known in (kind, stem(kind)) for kind in answers.kind]) for known in self.kinds]
        lengths = [answers.length] if self.lengths else []
        plain = np.clip(np.where(np.isfinite(numbers), numbers, 0.0), -LARGE, LARGE)
        return np.column_stack([plain, *lengths, *kinds, *marks]).astype(np.float64)


def coding(answers: Answers, first: Bools) -> Coding:
    """The coding for answers (n,), of which `first` come from the first of two data sets.

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
    return Coding(places, bool(np.ptp(answers.length)), _kinds(answers), symbols)


def _kinds(answers: Answers) -> tuple[str, ...]:
    """Kinds that come and go, the most frequent first: exceptions with their words and by their class alone, shapes."""
    count = Counter(name for kind in answers.kind for name in {kind, stem(kind)})
    return tuple(name for name, often in count.most_common(MOST_KINDS) if often < len(answers))


def _places(numbers: Floats, first: Bools) -> Ints:
    """The places of an answer that are looked at: all, or of very many those whose mean differs most for its spread."""
    if numbers.shape[1] <= MOST_COLUMNS:
        return np.arange(numbers.shape[1])
    known = np.clip(np.where(np.isfinite(numbers), numbers, 0.0), -LARGE, LARGE)
    gap = np.abs(known[first].mean(axis=0) - known[~first].mean(axis=0))
    spread = known[first].std(axis=0) + known[~first].std(axis=0)
    effect = gap / np.maximum(spread, 1e-9 * np.maximum(gap, 1e-300))
    return np.sort(np.argsort(-effect, kind="stable")[:MOST_COLUMNS])
