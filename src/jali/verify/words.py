"""The kinds of answers, which are texts, as numbers: telling words, and the numbers in messages of exceptions."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

from jali.core.values import Bools, Floats
from jali.verify.answers import RAISED, stem
from jali.verify.contents import WRITTEN

MOST_WORDS = 20  # words that get a column each: those that differ most between the data sets
MOST_NUMBERS = 8  # numbers in the message of an exception that are used
FIRST_WORDS = 200  # words of one kind that are looked at
WORD = re.compile(r"\w+|[^\w\s]")
LARGEST = 1e100  # so that squares are finite


def telling(kinds: Sequence[str], first: Bools) -> tuple[str, ...]:
    """The words that differ most in frequency between the two data sets; kinds (n,), first (n,): of the first.

    A word is a whole kind, an exception without its message, a word in a kind, or two in a row: so an identifier that
    is new in every answer does not hide the rest. Of words that occur in the same answers, one is enough.

    >>> kinds = ["id 7f: yes", "id 3c: yes", "id 9a: no", "id 11: no"]
    >>> telling(kinds, np.array([True, True, False, False]))[:2]
    (': no', ': yes')
    """
    different = sorted(set(kinds))
    if len(different) == 1:
        return ()
    number = {kind: at for at, kind in enumerate(different)}
    which = np.array([number[kind] for kind in kinds])
    counts = np.stack([np.bincount(which[mine], minlength=len(different)) for mine in (first, ~first)])
    inside: dict[str, list[int]] = {}
    for at, kind in enumerate(different):
        for word in _words(kind):
            inside.setdefault(word, []).append(at)
    groups = {tuple(where): word for word, where in sorted(inside.items(), reverse=True)}
    found = {word: counts[:, list(where)].sum(axis=1) for where, word in groups.items() if len(where) < len(different)}
    order = sorted(found, key=lambda word: (-_difference(*found[word]), -found[word].sum(), word))
    return tuple(order[:MOST_WORDS])


def flags(kinds: Sequence[str], words: Sequence[str]) -> Floats:
    """Which kinds (n, k) contain which of k words."""
    if not words:
        return np.zeros((len(kinds), 0))
    rows = {kind: [word in _words(kind) for word in words] for kind in set(kinds)}
    return np.array([rows[kind] for kind in kinds], dtype=np.float64)


def most_written(kinds: Sequence[str]) -> int:
    """The largest number of numbers in the message of an exception, up to MOST_NUMBERS."""
    found = (len(_numbers(kind)) for kind in set(kinds) if kind.startswith(RAISED))
    return min(MOST_NUMBERS, max(found, default=0))


def written(kinds: Sequence[str], width: int) -> Floats:
    """The first numbers (n, width) in messages of exceptions, with zeros where there are none."""
    rows = np.zeros((len(kinds), width))
    if width:
        known = {kind: _numbers(kind)[:width] for kind in set(kinds) if kind.startswith(RAISED)}
        for row, kind in zip(rows, kinds, strict=True):
            numbers = known.get(kind, [])
            row[: len(numbers)] = numbers
    return rows


@lru_cache(maxsize=20_000)
def _words(kind: str) -> frozenset[str]:
    """All words of a kind."""
    single = WORD.findall(kind)[:FIRST_WORDS]
    double = [f"{a} {b}" for a, b in pairwise(single)]
    return frozenset([kind, stem(kind), *single, *double])


def _numbers(kind: str) -> list[float]:
    return [float(np.clip(float(each), -LARGEST, LARGEST)) for each in WRITTEN.findall(kind)]


def _difference(here: int, there: int) -> float:
    """How far two counts are apart, for what chance explains."""
    return abs(float(here) - float(there)) / math.sqrt(here + there)
