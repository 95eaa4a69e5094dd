"""The task of a gradient search: start points, wanted classes, boxes and the cost of a move."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from jali.core.encoding import Encoding
from jali.core.protocols import Differentiable
from jali.core.values import Bools, Floats, Ints
from jali.explain._recourse.nearest import NEAREST, Cost, length

# How far a point must lie behind the boundary: far enough for a model that rounds to float32, and no further.
SHARE = 1e-4  # of the record's own margin
DEPTH = 1e-5  # in units of the encoded features


@dataclass(frozen=True)
class Task:
    """Encoded records (n, P), their wanted class (n,), the box (n, P) they may move in and the margin to reach (n,).

    Columns that may not move have low = high. Distances are measured from `origin`, by `cost`.
    """

    model: Differentiable
    origin: Floats
    wanted: Ints
    low: Floats
    high: Floats
    goal: Floats
    cost: Cost

    def __len__(self) -> int:
        return len(self.origin)

    def pick(self, rows: Bools | Ints) -> Task:
        """The chosen records only."""
        arrays = {name: getattr(self, name)[rows] for name in ("origin", "wanted", "low", "high", "goal")}
        return replace(self, **arrays)

    def held(self, columns: Bools, Z: Floats) -> Task:
        """The same task with some columns (P,) fixed at their values in Z (n, P), and measured from there."""
        origin = np.where(columns, Z, self.origin)
        return replace(self, origin=origin, low=np.where(columns, Z, self.low), high=np.where(columns, Z, self.high))

    def margin(self, Z: Floats) -> tuple[Floats, Floats]:
        """Margin (n,) of the wanted class at points Z (n, P), and its gradient (n, P)."""
        return self.model.margin(Z, self.wanted)

    def spent(self, Z: Floats) -> Floats:
        """Cost (n,) of points Z (n, P)."""
        return length(Z - self.origin, self.cost)

    def inside(self, Z: Floats) -> Floats:
        """Points Z (n, P) brought into the box."""
        return np.clip(Z, self.low, self.high)

    def step(self, start: Floats, slope: Floats, gap: Floats) -> Floats:
        """The cheapest points (n, P) from start that gain the gap (n,) if the slope (n, P) were constant."""
        return start + NEAREST[self.cost](slope, gap, self.low - start, self.high - start)[0]

    def projected(self, Z: Floats, value: Floats, slope: Floats, aim: Floats) -> Floats:
        """The points (n, P) nearest to the origin where the margin, linearised at Z, reaches aim (n,)."""
        return self.step(self.origin, slope, aim - value - (slope * (self.origin - Z)).sum(axis=1))


def numbers(model: Differentiable, encoding: Encoding, origin: Floats, wanted: Ints, cost: Cost) -> Task:
    """The task of moving the mutable numbers of encoded records (n, P), and nothing else."""
    lower, upper = encoding.bounds()
    low = np.where(encoding.movable(), lower, origin)
    high = np.where(encoding.movable(), upper, origin)
    value, slope = model.margin(origin, wanted)
    goal = SHARE * np.abs(value) + DEPTH * length(slope, "l2")
    return Task(model, origin, wanted, np.minimum(low, origin), np.maximum(high, origin), goal, cost)
