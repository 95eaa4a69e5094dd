"""Shapley values by their definition."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np

from jali.core.values import Bools, Floats


def shapley(worth: Callable[[Bools], Floats], players: int) -> Floats:
    """Values (n, D) of the players of n games; worth gives (n,) for a set (D,)."""
    known = {s: worth(np.array(s)) for s in itertools.product((False, True), repeat=players)}
    out = np.zeros((len(known[(False,) * players]), players))
    for s, j in itertools.product(known, range(players)):
        if not s[j]:
            k = sum(s)
            share = math.factorial(k) * math.factorial(players - k - 1) / math.factorial(players)
            out[:, j] += share * (known[(*s[:j], True, *s[j + 1 :])] - known[s])
    return out


def replaced(answer: Callable[[Floats], Floats], X: Floats, public: Floats) -> Callable[[Bools], Floats]:
    """The mean answer (n,) over public rows, whose columns in a set are each record's own."""
    return lambda s: np.mean([answer(np.where(s, X, row)) for row in public], axis=0)
