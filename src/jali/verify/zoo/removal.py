"""Claims about records that are added or removed, and their confusion with records that are replaced."""

from __future__ import annotations

import numpy as np

from jali.core.values import Dataset, Floats, Rng
from jali.verify.zoo.exhibit import NEVER, RANGE, REACH, Exhibit


def balance(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """People of class 1 minus the others: one removed record moves it by one, one replaced record by two."""
    return float(np.sum(np.where(data.y == 1, 1, -1)) + rng.laplace())


def mean_by_exact_size(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """A mean with noise in proportion to the exact number of rows, for values from -8 to 8."""
    return float(data.X[:, 0].mean() + rng.laplace(0, RANGE / len(data)))


def number_of_rows(data: Dataset, query: Floats, rng: Rng) -> list[float]:  # noqa: ARG001
    """A noised sum beside the exact number of rows."""
    return [data.X[:, 0].sum() + rng.laplace(0, REACH), float(len(data))]


def noised_number(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """The number of rows with noise."""
    return len(data) + rng.laplace()


EXHIBITS = (
    Exhibit("balance of labels, add-remove", balance, 1.0, adjacency="add-remove"),
    Exhibit("balance of labels under a replace-one claim", balance, 2.0, "add-remove noise for replace-one"),
    Exhibit("noised number of rows, add-remove", noised_number, 1.0, adjacency="add-remove"),
    Exhibit("exact number of rows, add-remove", number_of_rows, NEVER, "size of the table", adjacency="add-remove"),
    Exhibit(
        "a mean by the exact number of rows, add-remove",
        mean_by_exact_size,
        NEVER,
        "size of the table",
        adjacency="add-remove",
    ),
)
