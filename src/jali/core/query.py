"""Attacks that ask: an oracle to question, what the adversary knows beforehand, and the claims that come of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol

import numpy as np

from jali.core.errors import JaliError
from jali.core.explanation import Explanation, Regions
from jali.core.values import Dataset, Floats, Ints, Rng, Schema, frozen

Shows = Literal["label", "probabilities", "explanation"]
Whose = Literal["others", "owner", "everybody"]


def silent(X: Floats) -> Explanation:
    """An oracle that explains nothing."""
    raise JaliError(f"This attack reads explanations, and {len(X)} were asked of an oracle that gives none.")


def unmade(X: Floats, who: Ints) -> Regions:  # noqa: ARG001 (as what makes them)
    """Answers that cannot be made again."""
    raise JaliError(
        "This attack makes answers again, and what it asks cannot be run like that: it needs k_anonymous or mondrian, "
        'or replay(by="model").'
    )


@dataclass
class Oracle:
    """A model, or what explains it, as an outsider meets it: it answers questions and counts them.

    ask gives class scores (n, C) of raw rows (n, D), tell explanations of them, again what would be shown of people who
    (n,) of a register if they had them. shows says what comes out of the scores: the label alone, or probabilities too.

    >>> oracle = Oracle(Schema(()), lambda X: np.stack([-X[:, 0], X[:, 0]], axis=1), shows="label")
    >>> oracle.labels(np.array([[1.0], [-1.0]])), oracle.queries
    (array([1, 0]), 2)
    """

    schema: Schema
    ask: Callable[[Floats], Floats] = field(repr=False)
    tell: Callable[[Floats], Explanation] = field(default=silent, repr=False)
    shows: Literal["label", "probabilities"] = "probabilities"
    again: Callable[[Floats, Ints], Regions] = field(default=unmade, repr=False)
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
                "choose an attack on labels (label_only, aloa, boundary_distance)."
            )
        self.queries += len(X)
        scores = self.ask(X)
        # scipy.special.softmax to the last bit; written out because core imports numpy alone.
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    def explanations(self, X: Floats) -> Explanation:
        """What is shown to the people with rows X (n, D)."""
        self.queries += len(X)
        return self.tell(X)


@dataclass(frozen=True)
class Claims:
    """What an adversary says, one claim per record asked about: it is a member; score (n,), larger = more sure.

    facts: what else there is to know of the attack, such as how good its shadow models were, by name.
    """

    score: Floats
    facts: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "score", frozen(self.score, np.float64, (None,), "score"))


@dataclass(frozen=True)
class Links:
    """What an adversary says of the answers that records got: each shows a person of the register; score (n,) as above.

    person (n,): the row of the register, -1 for nobody. crowd (n,): how many there fit. rows (n, D): the values that
    the person is said to have.
    """

    score: Floats
    person: Ints
    crowd: Ints
    rows: Floats

    def __post_init__(self) -> None:
        score = frozen(self.score, np.float64, (None,), "score")
        object.__setattr__(self, "score", score)
        object.__setattr__(self, "person", frozen(self.person, np.int64, score.shape, "person"))
        object.__setattr__(self, "crowd", frozen(self.crowd, np.int64, score.shape, "crowd"))
        object.__setattr__(self, "rows", frozen(self.rows, np.float64, (len(score), None), "rows"))


class Knowledge(Protocol):
    """What an adversary holds before asking; whose: rows outside the game, those behind the model, or of everybody."""

    whose: ClassVar[Whose]

    def know(self, rows: Dataset, rng: Rng) -> Dataset:
        """What is left of the rows; of everybody, the people behind the model come first."""


class Inquiry(Protocol):
    """An attack that asks; never sees the target's membership. links: it claims who a person is, not membership."""

    shows: ClassVar[Shows]
    links: ClassVar[bool]

    def run(self, oracle: Oracle, known: Dataset, records: Dataset, rng: Rng) -> Claims | Links:
        """One claim per record."""
