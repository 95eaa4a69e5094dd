"""Confidence that is lost without the features of the attribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.encoding import Encoding
from jali.core.values import Floats, Seen
from jali.signals._moves import check_shares, check_width, largest, log_odds


@dataclass(frozen=True)
class AttributionRemoval:
    """How much the log-odds of the true label fall when the features with the largest attributions are removed.

    t = c(x) - mean_r c(x_r), c the log-odds of the true label, x_r the legal row nearest to x with the share r of its
    features with the largest attributions at their public centre (a category: at its first code).

    After Liu, Wu, Yu and Zhang, Please Tell Me More, S&P 2024, whose attack learns from the whole curve.

    >>> from jali.core.explanation import Attribution
    >>> from jali.core.values import Column, Schema
    >>> ask = lambda rows: np.stack([rows.sum(axis=1), 0 * rows[:, 0]], axis=1)
    >>> seen = {"x": lambda: np.array([[3.0, 1.0]]), "y": lambda: np.array([0]), "ask": lambda: ask}
    >>> seen |= {"schema": lambda: Schema((Column("a"), Column("b"))), "attribution": lambda: given}
    >>> given = Attribution(np.array([[3.0, 1.0]]))
    >>> AttributionRemoval(shares=(0.5, 1.0))(Seen(seen))  # from 4 to 1 and to 0
    array([3.5])
    """

    shares: tuple[float, ...] = (0.05, 0.1, 0.2, 0.4, 0.8)
    needs: ClassVar[frozenset[str]] = frozenset({"x", "y", "ask", "schema", "attribution"})
    usual: ClassVar[bool] = False
    control: ClassVar[str] = "confidence_perturbation"

    def __post_init__(self) -> None:
        check_shares("attribution_removal", self.shares)

    @property
    def queries(self) -> int:
        """How many rows it asks about for one record, beside the record."""
        return len(self.shares)

    def __call__(self, seen: Seen) -> Floats:
        """Loss of confidence (n,)."""
        encoding = Encoding(seen.schema)
        here = encoding.encode(seen.x)
        value = seen.attribution.value
        check_width("attribution_removal", value, seen.schema)
        without = [encoding.decode(np.where(largest(value, share), 0.0, here)) for share in self.shares]
        left = np.mean([log_odds(seen.ask(rows), seen.y) for rows in without], axis=0)
        return np.asarray(log_odds(seen.ask(seen.x), seen.y) - left)
