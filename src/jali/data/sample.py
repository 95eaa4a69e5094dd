"""A random sample of the rows of another data set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.core.errors import JaliError
from jali.core.protocols import Source
from jali.core.values import Dataset, Ints
from jali.data.tables.wrapped import Wrapped


@dataclass(frozen=True)
class Sample(Wrapped):
    """Rows of another data set, drawn at random without replacement and kept in their order.

    The schema is that of the whole data set, so its bounds, centres and spreads are as public as before. Groups keep
    their numbers, so games still keep the rows of one person together. With the same seed, a smaller sample is part of
    a larger one. `balanced` draws n / classes rows of each class; `skip` leaves out the rows that a sample of that size
    with the same seed would take, so that two samples share no row.

    >>> from jali.data.digits import Digits
    >>> data = Sample(Digits(), n=100, balanced=True).load()
    >>> np.bincount(data.y).tolist()
    [10, 10, 10, 10, 10, 10, 10, 10, 10, 10]
    """

    source: Source
    n: int
    balanced: bool = False
    seed: int = 0
    skip: int = 0

    def __post_init__(self) -> None:
        if self.n < 1 or self.seed < 0 or self.skip < 0:
            raise JaliError(
                f"sample: n must be at least 1, seed and skip at least 0, not {self.n}, {self.seed} and {self.skip}."
            )

    def derived(self, origin: str) -> str:
        """The origin of the source and what was done to it."""
        return f"{self.n:,} rows of: {origin}"

    def load(self) -> Dataset:
        """Load the data set and draw the sample."""
        data = self.source.load()
        if self.n + self.skip > len(data):
            wanted = self.n + self.skip
            raise JaliError(f"sample: the data set has {len(data):,} rows, not {wanted:,}: choose a smaller n.")
        order = np.random.default_rng(self.seed).permutation(len(data))[self.skip :]
        return data.rows(np.sort(self._of_each_class(data, order) if self.balanced else order[: self.n]))

    def _of_each_class(self, data: Dataset, order: Ints) -> Ints:
        """The first n / classes rows of each class in a random order of all rows."""
        classes = len(data.schema.classes)
        each, left = divmod(self.n, classes)
        if left:
            raise JaliError(f"sample: n = {self.n:,} cannot be shared equally by {classes} classes; use a multiple.")
        drawn = [order[data.y[order] == c] for c in range(classes)]
        rarest = int(np.argmin([len(rows) for rows in drawn]))
        if len(drawn[rarest]) < each:
            raise JaliError(
                f"sample: {each:,} rows of each class were asked for, but class {data.schema.classes[rarest]!r} has "
                f"{len(drawn[rarest]):,}: choose n of at most {len(drawn[rarest]) * classes:,}."
            )
        return np.concatenate([rows[:each] for rows in drawn])
