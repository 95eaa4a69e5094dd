"""Query attacks: the oracle that answers and counts queries, and what the adversary knows beforehand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol, runtime_checkable

import numpy as np

from jali.core.claims import Claim, Harm
from jali.core.errors import JaliError
from jali.core.explanation import Explanation, Recomputed
from jali.core.protocols import Trainer
from jali.core.values import Dataset, Floats, Ints, Rng, Schema

Sees = Literal["labels", "probabilities", "counterfactuals", "local surrogates"]
Holds = Literal["rows", "register"]
Whose = Literal["others", "train", "everybody"]


def no_explanations(X: Floats) -> Explanation:
    """Stands for the explanations of an oracle that has none."""
    raise JaliError(
        f"This attack reads explanations, but the oracle gives none for its {len(X)} rows: name an explainer."
    )


def cannot_recompute(X: Floats, person: Ints) -> Recomputed:  # noqa: ARG001 (the signature of `regions_for`)
    """Stands for the regions of an oracle whose explanations cannot be recomputed for other people."""
    raise JaliError(
        "This attack recomputes explanations for other people, and this explainer cannot do that: it needs "
        'k_anonymous or mondrian, or minimality(by="model").'
    )


@dataclass
class Oracle:
    """Black-box access to a model or its explainer: it answers queries and counts them.

    scores: class scores (n, C) of raw rows (n, D). explain: their explanations. regions_for: what would be shown of
    each person (n,) of a register, by row number, if that person had the row. reveals: labels only, or
    probabilities. trainer: how models like the one queried are trained, where the adversary knows that.

    >>> oracle = Oracle(Schema(()), lambda X: np.stack([-X[:, 0], X[:, 0]], axis=1), reveals="labels")
    >>> oracle.labels(np.array([[1.0], [-1.0]])), oracle.queries
    (array([1, 0]), 2)
    """

    schema: Schema
    scores: Callable[[Floats], Floats] = field(repr=False)
    explain: Callable[[Floats], Explanation] = field(default=no_explanations, repr=False)
    reveals: Literal["labels", "probabilities"] = "probabilities"
    regions_for: Callable[[Floats, Ints], Recomputed] = field(default=cannot_recompute, repr=False)
    queries: int = 0
    trainer: Trainer | None = field(default=None, repr=False)

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
        """The explanations shown to people with rows X (n, D)."""
        self.queries += len(X)
        return self.explain(X)


class Knowledge(Protocol):
    """What an adversary knows beforehand; whose: about people outside the game, the training people, or everybody."""

    whose: ClassVar[Whose]

    def know(self, rows: Dataset, rng: Rng) -> Dataset:
        """The part of the rows that the adversary knows; where whose is "everybody", the training people come first."""


@runtime_checkable
class RunsOnOracle(Protocol):
    """What tells a query attack from an attack on signals: it is run against an oracle."""

    def run(self, oracle: Oracle, known: Dataset, records: Dataset, rng: Rng) -> Claim:
        """One claim about the records."""


class QueryAttack(RunsOnOracle, Protocol):
    """An attack that queries an oracle; it never sees the target's membership.

    learns: the harm. sees: what it reads in the oracle's answers. holds: rows of other people, or a register of people
    with their quasi-identifiers. trains_shadows: whether it trains shadow models of its own.
    """

    learns: ClassVar[Harm]
    sees: ClassVar[Sees]
    holds: ClassVar[Holds]
    trains_shadows: ClassVar[bool]
