"""Leaks in texts with a new identifier every time, and in objects that are more than their numbers."""

from __future__ import annotations

import datetime
import math
import uuid
from collections.abc import Iterator
from typing import Any

import numpy as np

from jali.core.values import Dataset, Floats, Rng
from jali.verify.zoo.exhibit import NEVER, Exhibit, Release, like, present


def ticket(truthful: float) -> Release:
    """A new identifier and a word that tells the truth with this probability."""

    def release(data: Dataset, query: Floats, rng: Rng) -> str:
        told = present(data, query) == (rng.random() < truthful)
        return f"{uuid.UUID(bytes=rng.bytes(16))} {'granted' if told else 'refused'}"

    return release


def numbered_error(data: Dataset, query: Floats, rng: Rng) -> float:
    """Noise; in every other answer an error that has a number of its own and says how many people are alike."""
    if rng.random() < 0.5:
        raise ValueError(f"request {rng.integers(10**9)}: {np.count_nonzero(like(data, query))} people like you")
    return float(rng.laplace())


def end_of_a_long_text(data: Dataset, query: Floats, rng: Rng) -> str:  # noqa: ARG001
    """A statement of three thousand characters, whose last word says who is known."""
    return "This statement was made by a service. " * 80 + ("Known." if present(data, query) else "New.")


def masked(data: Dataset, query: Floats, rng: Rng) -> Any:
    """Noise, with a mask over the first number of those who are found."""
    return np.ma.masked_array(rng.normal(size=3), mask=[present(data, query), False, False])


def date(data: Dataset, query: Floats, rng: Rng) -> datetime.date:  # noqa: ARG001
    """A date that counts the people of class 1."""
    return datetime.date(2020, 1, 1) + datetime.timedelta(days=int(np.count_nonzero(data.y == 1)))


def number_as_a_key(data: Dataset, query: Floats, rng: Rng) -> dict[float, float]:
    """A dictionary whose key is noised too little."""
    return {float(10 * present(data, query) + rng.laplace()): 1.0}


def generated(data: Dataset, query: Floats, rng: Rng) -> Iterator[float]:
    """Numbers one by one, the first of which is the truth."""
    return iter([float(present(data, query)), float(rng.laplace())])


EXHIBITS = (
    Exhibit("a ticket with a response", ticket(math.e / (1 + math.e)), 1.0),
    Exhibit("a ticket, 95 % truthful", ticket(0.95), math.log(19), "words in a text"),
    Exhibit("a count in a numbered error", numbered_error, NEVER, "words in a text"),
    Exhibit("the end of a long text", end_of_a_long_text, NEVER, "words in a text"),
    Exhibit("a mask", masked, NEVER, "object that is more than its numbers"),
    Exhibit("a date", date, NEVER, "object that is more than its numbers"),
    Exhibit("a key that is a number", number_as_a_key, 10.0, "object that is more than its numbers"),
    Exhibit("numbers one by one", generated, NEVER, "object that is more than its numbers"),
)
