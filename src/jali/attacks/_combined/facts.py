"""What was found out about single signals, so that a signal that comes back is not looked at again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from jali.core.guesses import Shadows
from jali.core.values import Ints

Fact = dict[str, Any]  # by the name of what was looked for


class Facts:
    """Facts about signals by their bytes, those of the models' membership and of the parts that are set aside.

    Signals of a baseline are read by themselves and beside the explanation's, and the sizes of a positive control
    differ in one signal.

    >>> facts, one = Facts(), Shadows(np.zeros((2, 1, 1)), np.ones((2, 1, 1), dtype=bool), np.zeros((1, 1), dtype=bool))
    >>> facts.of(one, [])[0]["scale"] = 3
    >>> facts.of(one, [])[1]
    {'scale': 3}
    """

    def __init__(self) -> None:
        self._known: dict[bytes, Fact] = {}

    def of(self, shadows: Shadows, aside: Sequence[Ints]) -> list[Fact]:
        """The facts about each signal, to be read and added to."""
        shared = hashlib.sha256()
        for array in (shadows.answered, shadows.member, *aside):
            _add(shared, array)
        out = []
        for s, (value, observed) in enumerate(zip(shadows.value, shadows.observed, strict=True)):
            mine = shared.copy()
            mine.update(repr(shadows.unit(s)).encode())
            _add(mine, value)
            _add(mine, observed)
            out.append(self._known.setdefault(mine.digest(), {}))
        return out


def _add(digest: Any, array: npt.NDArray[Any]) -> None:
    """Add the shape, the type and the bytes of an array to a digest."""
    digest.update(f"{array.shape}{array.dtype}".encode())
    digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
