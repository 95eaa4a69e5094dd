"""The whole attribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.values import Floats, Schema, Seen
from jali.signals._vectors import few, per_column


@dataclass(frozen=True)
class Attributions:
    """The attribution of each column, towards the true label; only combined attacks read it.

    t_j = a_j where the predicted class is the true one, and -a_j where it is not; of a category the sum over its
    encoded features. Tables of more than `most` columns are read along that many random directions. Norms lose the
    noise that an attribution shares with the score; the vector keeps it, so that a combined attack can take it off.

    Shokri, Strobel and Zick, On the Privacy Risks of Model Explanations, AIES 2021, trained a network on whole
    attributions; the common shift of shadow models is ours.

    >>> from jali.core.explanation import Attribution
    >>> from jali.core.values import Column
    >>> seen = {"y": lambda: np.array([1]), "decision": lambda: np.array([0])}
    >>> seen |= {"schema": lambda: Schema((Column("a"), Column("b")))}
    >>> Attributions()(Seen(seen | {"attribution": lambda: Attribution(np.array([[1.0, -2.0]]))}))
    array([[-1.,  2.]])
    """

    most: int = 32
    needs: ClassVar[frozenset[str]] = frozenset({"y", "decision", "schema", "attribution"})

    def width(self, schema: Schema) -> int:
        """Numbers per record."""
        return min(self.most, len(schema.columns))

    def __call__(self, seen: Seen) -> Floats:
        """Attributions towards the true label (n, W)."""
        towards = np.where(seen.decision == seen.y, 1.0, -1.0)[:, None]
        return few(towards * per_column(seen.attribution.value, seen.schema), self.most)
