"""Query attacks: an oracle that answers queries and counts them, and what the adversary holds beforehand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol, runtime_checkable

import numpy as np

from jali.core.claims import Claim, Harm
from jali.core.errors import JaliError
from jali.core.explanation import Explanation, Regions
from jali.core.values import Dataset, Floats, Ints, Rng, Schema

Sees = Literal["labels", "probabilities", "counterfactuals", "local surrogates"]
Holds = Literal["rows", "register"]
Whose = Literal["others", "train", "everybody"]


def no_explanations(X: Floats) -> Explanation:
    """The answer of an oracle that explains nothing."""
    raise JaliError(f"This attack reads explanations, and {len(X)} were asked of an oracle that gives none.")


def cannot_remake(X: Floats, who: Ints) -> Regions:  # noqa: ARG001 (as what makes them)
    """The answer of an oracle whose explanations nobody else can make."""
    raise JaliError(
        "This attack makes answers again, and this explainer cannot be run like that: it needs k_anonymous or "
        'mondrian, or minimality(by="model").'
    )


@dataclass
class Oracle:
    """A model, or what explains it, as an outsider meets it: it answers queries and counts them.

    scores: class scores (n, C) of raw rows (n, D). explain: explanations of them. remake: what would be shown of the
    people who (n,) of a register if they had the rows. reveals: the label alone, or probabilities as well.

    >>> oracle = Oracle(Schema(()), lambda X: np.stack([-X[:, 0], X[:, 0]], axis=1), reveals="labels")
    >>> oracle.labels(np.array([[1.0], [-1.0]])), oracle.queries
    (array([1, 0]), 2)
    """

    schema: Schema
    scores: Callable[[Floats], Floats] = field(repr=False)
    explain: Callable[[Floats], Explanation] = field(default=no_explanations, repr=False)
    reveals: Literal["labels", "probabilities"] = "probabilities"
    remake: Callable[[Floats, Ints], Regions] = field(default=cannot_remake, repr=False)
    queries: int = 0

    def labels(self, X: Floats) -> Ints:
        """Predicted classes (n,)."""
        self.queries += len(X)
        return np.asarray(self.scores(X).argmax(axis=1))

    def probabilities(self, X: Floats) -> Floats:
        """Class probabilities (n, C), where the oracle reveals them."""
        if self.reveals != "probabilities":
            raise JaliError(
                "This attack needs class probabilities, and the oracle answers with labels alone: "
                "choose an attack on labels (label_only, aloa, boundary_distance)."
            )
        self.queries += len(X)
        scores = self.scores(X)
        # scipy.special.softmax to the last bit; written out because core imports numpy alone.
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    def explanations(self, X: Floats) -> Explanation:
        """What is shown to the people with rows X (n, D)."""
        self.queries += len(X)
        return self.explain(X)


class Knowledge(Protocol):
    """What an adversary holds beforehand; whose: rows outside the game, the training people, or everybody."""

    whose: ClassVar[Whose]

    def know(self, rows: Dataset, rng: Rng) -> Dataset:
        """What is left of the rows; of everybody, the training people come first."""


@runtime_checkable
class Queries(Protocol):
    """What tells a query attack from an attack on signals: it is run against an oracle."""

    def run(self, oracle: Oracle, known: Dataset, records: Dataset, rng: Rng) -> Claim:
        """One claim about the records."""


class QueryAttack(Queries, Protocol):
    """An attack that queries an oracle; it never sees the target's membership.

    learns: the harm. sees: what it reads of the oracle's answers. holds: rows of other people, or a register of people
    with the columns that others know too. trains_shadows: whether it trains shadow models of its own.
    """

    learns: ClassVar[Harm]
    sees: ClassVar[Sees]
    holds: ClassVar[Holds]
    trains_shadows: ClassVar[bool]
