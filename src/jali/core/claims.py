"""What an attack claims, as values: that records were members, or who the person behind an explanation is.

A claim knows nothing of the truth. The grader of its type (`audit/grading/`) joins the truth and turns it into numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from jali.core.values import Floats, Ints, frozen

Harm = Literal["membership", "identity", "attributes", "the model"]


@dataclass(frozen=True)
class Membership:
    """The claim that records are members: score (n,), larger = more certain, above 0 where the attack flags a record.

    overall: further numbers about the whole attack, by metric, such as the accuracy of its shadow models.
    """

    score: Floats
    overall: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "score", frozen(self.score, np.float64, (None,), "score"))


@dataclass(frozen=True)
class Identity:
    """The claim that each explanation shows one person of a register: score (n,), larger = more certain.

    person (n,): the row of the register, -1 for nobody. candidates (n,): how many people of the register match the
    explanation. values (n, D): the raw row that the attack attributes to the person.
    """

    score: Floats
    person: Ints
    candidates: Ints
    values: Floats

    def __post_init__(self) -> None:
        score = frozen(self.score, np.float64, (None,), "score")
        object.__setattr__(self, "score", score)
        object.__setattr__(self, "person", frozen(self.person, np.int64, score.shape, "person"))
        object.__setattr__(self, "candidates", frozen(self.candidates, np.int64, score.shape, "candidates"))
        object.__setattr__(self, "values", frozen(self.values, np.float64, (len(score), None), "values"))


Claim = Membership | Identity
