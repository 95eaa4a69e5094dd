"""The interface of graders: the truth they compare a claim with, and the numbers they return.

The graders themselves, one per harm, are in `audit/grading/`.
"""

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
    explained: the rows (m, D) explained last. explanation: their explanation, with the fields that are never shown.
    """

    model: Model
    train: Dataset
    records: Dataset
    others: Dataset
    member: Bools
    labels: Ints | None = None
    explained: Floats | None = None
    explanation: Explanation | None = None

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

    values (K, n): the metrics of `Grader.per_record`. defined (K, n): where each of them is defined. overall: one
    number per metric of the whole claim.
    """

    score: Floats
    truth: Bools
    values: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    defined: Bools = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))
    overall: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        score = frozen(self.score, np.float64, (None,), "score")
        object.__setattr__(self, "score", score)
        object.__setattr__(self, "truth", frozen(self.truth, bool, score.shape, "truth"))
        nothing = np.zeros((0, len(score)))
        values = frozen(self.values if len(self.values) else nothing, np.float64, (None, len(score)), "values")
        object.__setattr__(self, "values", values)
        defined = frozen(self.defined if len(self.defined) else nothing, bool, values.shape, "defined")
        object.__setattr__(self, "defined", defined)


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
