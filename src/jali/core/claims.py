"""What an attack claims, as values: that records were members, or who the person behind an answer is.

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
    """Records are members: score (n,), larger = more sure, above 0 where the attack flags the record.

    facts: what else there is to know of the attack, by metric, such as how good its shadow models were.
    """

    score: Floats
    facts: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "score", frozen(self.score, np.float64, (None,), "score"))


@dataclass(frozen=True)
class Identity:
    """Answers show people of a register: score (n,), larger = more sure.

    person (n,): the row of the register, -1 for nobody. candidates (n,): how many people there fit. values (n, D): the
    raw row that the person is said to have.
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
