"""Leaks in the form of an answer: its length, type, keys, gaps and errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from jali.core.values import Dataset, Floats, Rng
from jali.verify.zoo.exhibit import NEVER, Exhibit, like, present


def one_per_category(data: Dataset, query: Floats, rng: Rng) -> Floats:  # noqa: ARG001
    """Noised counts of the values that occur in the last column: how many there are is exact."""
    _, counts = np.unique(data.X[:, -1], return_counts=True)
    return counts + rng.laplace(0, 2, len(counts))


def withheld(data: Dataset, query: Floats, rng: Rng) -> float:
    """A noised count of equal rows, withheld below five."""
    count = np.count_nonzero(like(data, query))
    return float("nan") if count < 5 else count + rng.laplace()


def withheld_by_noise(data: Dataset, query: Floats, rng: Rng) -> float:
    """A noised count of equal rows, withheld if the noised count is below five."""
    count = np.count_nonzero(like(data, query)) + rng.laplace()
    return float("nan") if count < 5 else float(count)


def a_key(data: Dataset, query: Floats, rng: Rng) -> dict[str, Any]:
    """Noise, and one key more for those who are found."""
    answer: dict[str, Any] = {"noise": rng.laplace()}
    if present(data, query):
        answer["note"] = "known customer"
    return answer


def whole_or_not(data: Dataset, query: Floats, rng: Rng) -> float | int:
    """A whole number, as an integer for those who are found."""
    number = rng.integers(10)
    return int(number) if present(data, query) else float(number)


def refusal(data: Dataset, query: Floats, rng: Rng) -> float:
    """Noise; nothing for people of a class without other members."""
    if np.bincount(data.y, minlength=2).min() < 2:
        raise ValueError("too few members in a class")
    return float(rng.laplace() + present(data, query))


EXHIBITS = (
    Exhibit("a count for each value that occurs", one_per_category, NEVER, "shape of the answer"),
    Exhibit("small counts withheld", withheld, NEVER, "shape of the answer"),
    Exhibit("small noised counts withheld", withheld_by_noise, 1.0),
    Exhibit("a key more", a_key, NEVER, "shape of the answer"),
    Exhibit("integers for members", whole_or_not, NEVER, "shape of the answer"),
    Exhibit("a refusal for a small class", refusal, NEVER, "shape of the answer"),
)
