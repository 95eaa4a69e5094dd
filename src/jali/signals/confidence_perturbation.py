"""Confidence at a record, compared with rows around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Floats, Seen
from jali.signals._moves import peak

SEED = 0x9EA4  # the directions are public: the same for every record, model and audit
SHARE = 0.2  # of the features that a step changes


@dataclass(frozen=True)
class ConfidencePerturbation:
    """How far the log-odds of the true label lie above those of rows around the record.

    t = c(x) - mean_m [c(x + m) + c(x - m)] / 2, c the log-odds of the true label, over `directions` random directions
    m, each a `step` (in spreads) in a fifth of the features: training on a record raises the score more there than
    beside it. It queries other rows but reads no explanation: `attribution_perturbation` is compared with it.

    Jalalzai, Kadoche, Leluc and Plassier, 2022, and Choquette-Choo et al., ICML 2021 (perturbed queries); ours is one
    number for scores.

    >>> from jali.core.values import Column, Schema
    >>> ask = lambda rows: np.stack([-rows[:, 0] ** 2, 0 * rows[:, 0]], axis=1)
    >>> seen = {"x": lambda: np.zeros((1, 1)), "y": lambda: np.array([0]), "ask": lambda: ask}
    >>> ConfidencePerturbation(step=0.5)(Seen(seen | {"schema": lambda: Schema((Column("a"),))}))
    array([0.25])
    """

    step: float = 0.25
    directions: int = 3
    needs: ClassVar[frozenset[str]] = frozenset({"x", "y", "ask", "schema"})
    usual: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not (self.step > 0 and self.directions > 0):
            raise JaliError(
                f"confidence_perturbation: step and directions must be positive, not {self.step} and {self.directions}."
            )

    @property
    def queries(self) -> int:
        """How many rows it asks about for one record, beside the record."""
        return 2 * self.directions

    def __call__(self, seen: Seen) -> Floats:
        """Height of the peak (n,)."""
        width = sum(max(1, len(column.categories)) for column in seen.schema.columns)
        rng = np.random.default_rng(SEED)
        ways = rng.choice([-1.0, 1.0], (self.directions, width))
        order = rng.permuted(np.tile(np.arange(width), (self.directions, 1)), axis=1)
        ways[order >= max(1, round(SHARE * width))] = 0.0
        moves = [np.broadcast_to(self.step * way, (len(seen.x), width)) for way in ways]
        return peak(seen.x, seen.y, seen.ask, seen.schema, moves)
