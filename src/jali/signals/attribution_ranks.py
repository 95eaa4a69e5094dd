"""Order and signs of the attributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.values import Floats, Schema, Seen
from jali.signals._vectors import few, per_column


@dataclass(frozen=True)
class AttributionRanks:
    """The rank of each column's attribution among all, with its sign; only combined attacks read it.

    t_j = sign(a_j) rank(|a_j|) / D, which is all that an explanation by order and sign shows. Tables of more than
    `most` columns are read along that many random directions.

    After Shokri, Strobel and Zick, On the Privacy Risks of Model Explanations, AIES 2021, who read whole attributions.

    >>> from jali.core.explanation import Attribution
    >>> from jali.core.values import Column
    >>> seen = {"schema": lambda: Schema((Column("a"), Column("b")))}
    >>> AttributionRanks()(Seen(seen | {"attribution": lambda: Attribution(np.array([[1.0, -2.0]]))}))
    array([[ 0.5, -1. ]])
    """

    most: int = 32
    needs: ClassVar[frozenset[str]] = frozenset({"schema", "attribution"})
    usual: ClassVar[bool] = False

    def width(self, schema: Schema) -> int:
        """Numbers per record."""
        return min(self.most, len(schema.columns))

    def __call__(self, seen: Seen) -> Floats:
        """Signed ranks (n, W)."""
        value = per_column(seen.attribution.value, seen.schema)
        ranks = average_ranks(np.abs(value)) / value.shape[1]
        return few(np.sign(value) * ranks, self.most)


def average_ranks(value: Floats) -> Floats:
    """The rank (n, W) of each number in its row, from 1; equal numbers share the mean of their ranks.

    As scipy.stats.rankdata, whose import would take every worker most of a second.

    >>> average_ranks(np.array([[3.0, 1.0, 3.0]]))
    array([[2.5, 1. , 2.5]])
    """
    order = value.argsort(axis=1)
    ascending = np.take_along_axis(value, order, axis=1)
    place = np.arange(value.shape[1])
    rises = ascending[:, 1:] > ascending[:, :-1]
    edge = np.ones((len(value), 1), dtype=bool)
    first = np.maximum.accumulate(np.where(np.hstack([edge, rises]), place, 0), axis=1)
    last = np.minimum.accumulate(np.where(np.hstack([rises, edge]), place, len(place))[:, ::-1], axis=1)[:, ::-1]
    out = np.empty(value.shape)
    np.put_along_axis(out, order, (first + last) / 2 + 1, axis=1)
    return out
