"""How claims are graded: the truth about one attacked model, and the numbers that a grader returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from jali.core.claims import Harm
from jali.core.errors import JaliError
from jali.core.explanation import Explanation
from jali.core.protocols import Model
from jali.core.values import Bools, Dataset, Floats, Ints, frozen

About = Literal["members and non-members", "outsiders"]


@dataclass(frozen=True)
class Truth:
    """What an attack must not see: the model, its training set, and which of the queried records are members.

    others: the rest of the population. labels (n,): the oracle's labels of the records, None where it gives none.
    explained: the rows (m, D) explained last. answer: their explanation, with the fields that are never shown.
    """

    model: Model
    train: Dataset
    records: Dataset
    others: Dataset
    member: Bools
    labels: Ints | None = None
    explained: Floats | None = None
    answer: Explanation | None = None

    def about_each(self, score: Floats) -> Floats:
        """The score (n,) of a claim, if it has one for each of the records."""
        if len(score) != len(self.records):
            raise JaliError(
                f"An attack must claim something of each of {len(self.records)} records, not of {len(score)}."
            )
        return score


@dataclass(frozen=True)
class Graded:
    """One graded claim. score, truth (n,): the attack's score of each record, and whether the claim about it is true.

    values (K, n): the metrics of `Grader.per_record`. there (K, n): where each of them is defined. facts: one number
    per metric of the whole claim.
    """

    score: Floats
    truth: Bools
    values: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    there: Bools = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))
    facts: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        score = frozen(self.score, np.float64, (None,), "score")
        object.__setattr__(self, "score", score)
        object.__setattr__(self, "truth", frozen(self.truth, bool, score.shape, "truth"))
        nothing = np.zeros((0, len(score)))
        values = frozen(self.values if len(self.values) else nothing, np.float64, (None, len(score)), "values")
        object.__setattr__(self, "values", values)
        there = frozen(self.there if len(self.there) else nothing, bool, values.shape, "there")
        object.__setattr__(self, "there", there)


class Grader(Protocol):
    """Compares claims of one type with the truth; it runs in the worker that holds the model, and returns numbers only.

    harm, claim: what it grades. metrics: those of the guesses. per_record: those with a number for each record.
    about: which people must be queried for the grade to be meaningful.
    """

    harm: ClassVar[Harm]
    claim: ClassVar[type]
    metrics: ClassVar[tuple[str, ...]]
    per_record: ClassVar[tuple[str, ...]]
    about: ClassVar[About]

    def grade(self, claim: Any, truth: Truth) -> Graded:
        """The numbers of one claim."""
