"""Randomised response."""

from __future__ import annotations

import math

import numpy as np

from jali.core.values import Bools, Dataset, Floats, Rng
from jali.verify.zoo.exhibit import Exhibit, Release, present

TRUTHFUL = math.e / (1 + math.e)  # how often the truth is told at epsilon = 1


def response(truthful: float) -> Release:
    """Whether the query is among the rows, told truthfully with this probability."""
    return lambda data, query, rng: present(data, query) == (rng.random() < truthful)


def several(data: Dataset, query: Floats, rng: Rng) -> Bools:
    """Four responses, each at epsilon = 1."""
    return np.asarray(present(data, query) == (rng.random(4) < TRUTHFUL))


def in_words(data: Dataset, query: Floats, rng: Rng) -> str:
    """A response as a word, truthful in 85 of 100."""
    return "yes" if present(data, query) == (rng.random() < 0.85) else "no"


EXHIBITS = (
    Exhibit("randomised response", response(TRUTHFUL), 1.0),
    Exhibit("randomised response, 80 % truthful", response(0.8), math.log(4), "too little noise"),
    Exhibit("four responses for the price of one", several, 4.0, "composition ignored"),
    Exhibit("randomised response in words", in_words, math.log(0.85 / 0.15), "too little noise"),
)
