"""What a gradient search is asked: from where, to which outcome, inside which box, at which cost."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from jali.core.encoding import Encoding
from jali.core.protocols import Differentiable
from jali.core.values import Bools, Floats, Ints
from jali.explain._recourse.nearest import NEAREST, Cost, length

# How far a point must lie behind the boundary: far enough for a model that rounds to float32, and no further.
SHARE, DEPTH = 1e-4, 1e-5  # of the record's own margin, and in units of model space


@dataclass(frozen=True)
class Task:
    """Records in model space (n, P), the class each wants (n,), its box (n, P) and the margin it must reach (n,).

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
        hold = [np.where(columns, Z, side) for side in (self.origin, self.low, self.high)]
        return replace(self, origin=hold[0], low=hold[1], high=hold[2])

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
        """The cheapest points (n, P) that gain the gap (n,) on their way from start, if slope (n, P) held all along."""
        return start + NEAREST[self.cost](slope, gap, self.low - start, self.high - start)[0]

    def projected(self, Z: Floats, value: Floats, slope: Floats, aim: Floats) -> Floats:
        """The points (n, P) nearest to the origin where the margin, made linear at Z, reaches aim (n,)."""
        return self.step(self.origin, slope, aim - value - (slope * (self.origin - Z)).sum(axis=1))


def numbers(model: Differentiable, encoding: Encoding, origin: Floats, wanted: Ints, cost: Cost) -> Task:
    """The task of moving the mutable numbers of encoded records (n, P), and nothing else."""
    low, high = (np.where(encoding.movable(), bound, origin) for bound in encoding.bounds())
    value, slope = model.margin(origin, wanted)
    goal = SHARE * np.abs(value) + DEPTH * length(slope, "l2")
    return Task(model, origin, wanted, np.minimum(low, origin), np.maximum(high, origin), goal, cost)
