"""Leaks that show in few tables: in one class, one combination, one column or one order of the rows."""

from __future__ import annotations

import numpy as np

from jali.core.values import Dataset, Floats, Rng
from jali.verify.zoo.exhibit import NEVER, Exhibit


def _noised(data: Dataset, rng: Rng) -> float:
    """A count at epsilon = 1, beside which each of these says something exact."""
    return float(np.count_nonzero(data.y == 1) + rng.laplace())


def third_class(data: Dataset, query: Floats, rng: Rng) -> list[float]:  # noqa: ARG001
    """Beside it, how many people are of the third class."""
    return [_noised(data, rng), float(np.count_nonzero(data.y == 2))]


def combination(data: Dataset, query: Floats, rng: Rng) -> list[float]:
    """Beside it, how many people have the query's values in all categories, if there are several."""
    named = [j for j, column in enumerate(data.schema.columns) if column.kind == "category"]
    alike = (data.X[:, named] == query[named]).all(axis=1).sum() if len(named) > 1 else 0
    return [_noised(data, rng), float(alike)]


def best_column(data: Dataset, query: Floats, rng: Rng) -> list[float]:  # noqa: ARG001
    """Beside it, the column that goes best with the label."""
    strength = np.abs((data.X * np.where(data.y == 1, 1, -1)[:, None]).sum(axis=0))
    return [_noised(data, rng), float(strength.argmax())]


def in_order(data: Dataset, query: Floats, rng: Rng) -> list[float]:  # noqa: ARG001
    """Beside it, whether the rows are sorted."""
    return [_noised(data, rng), float((np.diff(data.X[:, 0]) >= 0).all())]


def order_of_keys(data: Dataset, query: Floats, rng: Rng) -> dict[str, float]:  # noqa: ARG001
    """Noised counts of two classes, the smaller one first."""
    counts = {"refused": int(np.count_nonzero(data.y == 0)), "granted": int(np.count_nonzero(data.y == 1))}
    return {key: counts[key] + rng.laplace(0, 2) for key in sorted(counts, key=lambda key: counts[key])}


EXHIBITS = (
    Exhibit("size of the third class", third_class, NEVER, "small classes"),
    Exhibit("people of a combination", combination, NEVER, "small classes"),
    Exhibit("the best column", best_column, NEVER, "choice without noise"),
    Exhibit("whether rows are sorted", in_order, NEVER, "order of the rows"),
    Exhibit("keys in the order of counts", order_of_keys, NEVER, "shape of the answer"),
)
