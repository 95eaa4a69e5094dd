"""Confidence at a record, compared with rows along its attribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Floats, Seen
from jali.signals._moves import check_shares, check_width, largest, peak


@dataclass(frozen=True)
class AttributionPerturbation:
    """How far the log-odds of the true label lie above those of rows along the record's attribution.

    t = c(x) - mean_r [c(x + m_r) + c(x - m_r)] / 2, c the log-odds of the true label, m_r a `step` (in spreads) in the
    share r of the features with the largest attributions, each towards its sign. Steps in random directions find
    more (`confidence_perturbation`, which is audited with it): compare the two before crediting the explanation.

    After Liu, Wu, Yu and Zhang, Please Tell Me More, S&P 2024, whose attack learns from such a curve.

    >>> from jali.core.explanation import Attribution
    >>> from jali.core.values import Column, Schema
    >>> ask = lambda rows: np.stack([-rows[:, 0] ** 2, 0 * rows[:, 0]], axis=1)
    >>> seen = {"x": lambda: np.zeros((1, 2)), "y": lambda: np.array([0]), "ask": lambda: ask}
    >>> seen |= {"schema": lambda: Schema((Column("a"), Column("b"))), "attribution": lambda: given}
    >>> given = Attribution(np.array([[2.0, -1.0]]))
    >>> AttributionPerturbation(step=0.5, shares=(0.5,))(Seen(seen))
    array([0.25])
    """

    step: float = 0.25
    shares: tuple[float, ...] = (0.1, 0.2, 0.4)
    needs: ClassVar[frozenset[str]] = frozenset({"x", "y", "ask", "schema", "attribution"})
    usual: ClassVar[bool] = False
    control: ClassVar[str] = "confidence_perturbation"

    def __post_init__(self) -> None:
        check_shares("attribution_perturbation", self.shares)
        if not self.step > 0:
            raise JaliError(f"attribution_perturbation: step must be positive, not {self.step}.")

    @property
    def queries(self) -> int:
        """How many rows it asks about for one record, beside the record."""
        return 2 * len(self.shares)

    def __call__(self, seen: Seen) -> Floats:
        """Height of the peak (n,)."""
        value = seen.attribution.value
        check_width("attribution_perturbation", value, seen.schema)
        moves = [np.where(largest(value, share), self.step * np.sign(value), 0.0) for share in self.shares]
        return peak(seen.x, seen.y, seen.ask, seen.schema, moves)
