"""Copies of the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.claims import Copy, Harm
from jali.core.grading import About, Graded, Truth


@dataclass(frozen=True)
class GradesCopies:
    """How often the copy says what the model says, of the records asked about."""

    harm: ClassVar[Harm] = "the model"
    claim: ClassVar[type] = Copy
    metrics: ClassVar[tuple[str, ...]] = ()
    per_record: ClassVar[tuple[str, ...]] = ("agreement",)
    about: ClassVar[About] = "members and non-members"

    def grade(self, claim: Copy, truth: Truth) -> Graded:
        """One number per record: whether both give it the same label."""
        X = truth.records.X
        same = claim.model.logits(X).argmax(axis=1) == truth.model.logits(X).argmax(axis=1)
        nothing = np.zeros(len(X))
        return Graded(nothing, truth.member, same[None].astype(np.float64), np.ones((1, len(X)), dtype=bool))
