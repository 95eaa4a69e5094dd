"""Attacks that ask: an oracle to question, what the adversary knows beforehand, and the claims that come of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol

import numpy as np

from jali.core import Dataset, Floats, Ints, JaliError, Rng, Schema, frozen

Shows = Literal["label", "probabilities", "explanation"]


@dataclass
class Oracle:
    """A model, or what explains it, as an outsider meets it: it answers questions and counts them.

    ask gives class scores (n, C) of raw rows (n, D); shows says what of them comes out: the label alone, or
    probabilities too.

    >>> oracle = Oracle(lambda X: np.stack([-X[:, 0], X[:, 0]], axis=1), Schema(()), shows="label")
    >>> oracle.labels(np.array([[1.0], [-1.0]])), oracle.queries
    (array([1, 0]), 2)
    """

    ask: Callable[[Floats], Floats] = field(repr=False)
    schema: Schema
    shows: Literal["label", "probabilities"] = "probabilities"
    queries: int = 0

    def labels(self, X: Floats) -> Ints:
        """Predicted classes (n,)."""
        self.queries += len(X)
        return np.asarray(self.ask(X).argmax(axis=1))

    def probabilities(self, X: Floats) -> Floats:
        """Class probabilities (n, C), where the oracle shows them."""
        if self.shows != "probabilities":
            raise JaliError(
                "This attack needs class probabilities, and the oracle answers with labels alone: "
                "choose an attack on labels (label_only, aloa)."
            )
        self.queries += len(X)
        scores = self.ask(X)
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class Claims:
    """What an adversary says, one claim per record asked about: score (n,), larger = more sure.

    With person (n,) a claim is that an answer shows this row of the register (-1: nobody is named); without, that the
    record itself is a member.
    """

    score: Floats
    person: Ints | None = None

    def __post_init__(self) -> None:
        score = frozen(self.score, np.float64, (None,), "score")
        object.__setattr__(self, "score", score)
        if self.person is not None:
            object.__setattr__(self, "person", frozen(self.person, np.int64, score.shape, "person"))


class Knowledge(Protocol):
    """What an adversary holds before asking."""

    def know(self, rows: Dataset, rng: Rng) -> Dataset:
        """What is left of rows from the same population; never the rows of the target itself."""


class Inquiry(Protocol):
    """An attack that asks; never sees the target's membership."""

    shows: ClassVar[Shows]

    def run(self, oracle: Oracle, known: Dataset, records: Dataset, rng: Rng) -> Claims:
        """One claim per record."""
