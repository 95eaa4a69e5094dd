"""How claims are graded: what is true of one attacked model, and the numbers that a grader leaves."""

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
    """What an attack must not see: the model, its training rows, who of the records asked about is a member.

    others: the rest of the population. labels (n,): the oracle's labels of the records, None where it gives none.
    asked and answer: the rows (m, D) explained last, and the whole answer, with what is not shown.
    """

    model: Model
    train: Dataset
    records: Dataset
    others: Dataset
    member: Bools
    labels: Ints | None = None
    asked: Floats | None = None
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
    """One graded claim. score, truth (n,): a guess about each record, and whether it is right to make it.

    values (K, n): the metrics of `Grader.per_record`, where there (K, n) they speak. facts: one number per metric of
    the whole claim.
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
    """Joins the truth to claims of one type; runs where the model is, and keeps numbers only.

    harm, claim: what it grades. metrics: those of the guesses. per_record: those with a number for each record.
    about: who must be asked about for a grade to mean something.
    """

    harm: ClassVar[Harm]
    claim: ClassVar[type]
    metrics: ClassVar[tuple[str, ...]]
    per_record: ClassVar[tuple[str, ...]]
    about: ClassVar[About]

    def grade(self, claim: Any, truth: Truth) -> Graded:
        """The numbers of one claim."""
