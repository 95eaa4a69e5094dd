"""Numbers to predict, cut at a threshold: what a regression model decides."""

from __future__ import annotations

from typing import Any

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Floats

SIDES = {"below": 0, "at least": 1, "above": 1}


class Cut:
    """A threshold, the unit in which distances from it are told, and whether people hope to be on one side of it.

    >>> cut = Cut(threshold=2.0, spread=4.0)
    >>> cut.scaled(np.array([6.0])), cut.restored(np.array([1.0])), cut.classes
    (array([1.]), array([6.]), ('below 2', 'at least 2'))
    """

    def __init__(self, threshold: float, spread: float, favourable: str = "") -> None:
        self.threshold = threshold
        self.spread = spread
        self.favourable = favourable

    def __repr__(self) -> str:
        return f"Cut({self.threshold:g}, {self.spread:g})"

    @property
    def classes(self) -> tuple[str, str]:
        """The names of the two sides."""
        return f"below {self.threshold:g}", f"at least {self.threshold:g}"

    def scaled(self, values: Floats) -> Floats:
        """Values (n,) relative to the threshold, in units of the spread."""
        return np.asarray((values - self.threshold) / self.spread)

    def restored(self, outcome: Floats) -> Floats:
        """The values (n,) themselves."""
        return np.asarray(outcome * self.spread + self.threshold)

    def names(self, values: Floats) -> Any:
        """The side (n,) on which each value lies."""
        return np.where(values >= self.threshold, self.classes[1], self.classes[0])


def cut_at(labels: Any, threshold: float | None, favourable: Any) -> Cut:
    """The cut of the training people's numbers: at the threshold, or at their median where none is given."""
    try:
        values = np.asarray(labels, dtype=np.float64)
    except (ValueError, TypeError):
        raise JaliError("A threshold goes with a regression model, and y of train holds no numbers.") from None
    if not np.isfinite(values).all():
        raise JaliError("y holds missing or infinite values: leave these rows out.")
    spread = float(values.std())
    if not spread > 0:
        raise JaliError("All values of y are the same: a regression model needs different ones.")
    at = float(np.median(values)) if threshold is None else float(threshold)
    if not values.min() < at <= values.max():
        raise JaliError(f"All training people lie on one side of the threshold {at:g}: choose one within y.")
    if favourable is None:
        return Cut(at, spread, "" if threshold is None else "at least")
    if favourable not in SIDES:
        raise JaliError(f"favourable must be 'at least' or 'below' for a regression model, not {favourable!r}.")
    return Cut(at, spread, str(favourable))
