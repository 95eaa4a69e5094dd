"""Scores that come target by target, in arrays that have room for all from the beginning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from jali.audit.evidence import read_only
from jali.core.values import Floats


class Growing:
    """The scores of several metrics; those whose scores were the same so far share one array.

    Small arrays in between, joined at the end, would take their memory twice. Room that is not used takes none.

    >>> scores = Growing(["auc", "tpr"], 4)
    >>> same = np.array([1.0, 2.0])
    >>> scores.add({"auc": same, "tpr": same})
    >>> whole = scores.whole()
    >>> whole["auc"] is whole["tpr"], whole["auc"]
    (True, array([1., 2.]))
    """

    def __init__(self, metrics: Iterable[str], room: int) -> None:
        self._array = dict.fromkeys(metrics, np.empty(room))
        self._count = 0

    def add(self, scores: Mapping[str, Floats]) -> None:
        """Enter the scores (n,) of one target by metric; metrics with the same one share it."""
        entered: dict[tuple[int, int], Floats] = {}
        taken: set[int] = set()
        end = self._count
        for metric, score in scores.items():
            before = self._array[metric]
            key = (id(before), id(score))
            if key not in entered:
                mine = _copied(before, self._count) if id(before) in taken else before
                taken.add(id(before))
                end = self._count + len(score)
                mine[self._count : end] = score
                entered[key] = mine
            self._array[metric] = entered[key]
        self._count = end

    def whole(self) -> dict[str, Floats]:
        """All scores by metric, which nobody can change any more; metrics with the same ones share one array."""
        made = {}
        for array in {id(array): array for array in self._array.values()}.values():
            read_only(array)
            made[id(array)] = array[: self._count]
        return {metric: made[id(array)] for metric, array in self._array.items()}


def _copied(array: Floats, count: int) -> Floats:
    """An array of the same size with the first numbers of another."""
    out = np.empty_like(array)
    out[:count] = array[:count]
    return out
