"""One mechanism of the zoo: a release, what it claims, and what is true of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from jali.core.guarantee import Adjacency, Guarantee
from jali.core.values import Bools, Dataset, Floats, Rng

Release = Callable[[Dataset, Floats, Rng], Any]
REACH = 8.0  # all numbers of the test tables lie between -REACH and REACH, and mechanisms may take that as public
RANGE = 2 * REACH


@dataclass(frozen=True)
class Exhibit:
    """A release(data, query, rng), its claim, and its true epsilon at the delta of the claim.

    true: infinite if there is no epsilon, or if it grows with the number of rows or columns. fault: what is wrong with
    a broken one; empty for a correct one.
    """

    name: str
    release: Release
    true: float
    fault: str = ""
    claimed: float = 1.0
    delta: float = 0.0
    adjacency: Adjacency = "replace-one"

    @property
    def correct(self) -> bool:
        """Whether the claim is true."""
        return self.true <= self.claimed

    def guarantee(self) -> Guarantee:
        """The claim."""
        return Guarantee(self.name, self.claimed, self.adjacency, ("explanations",), per="release", delta=self.delta)


def present(data: Dataset, query: Floats) -> bool:
    """Whether the query is one of the rows."""
    return bool(like(data, query).any())


def like(data: Dataset, query: Floats) -> Bools:
    """Which rows (N,) equal the query."""
    return np.asarray((query == data.X).all(axis=1))


NEVER = math.inf
