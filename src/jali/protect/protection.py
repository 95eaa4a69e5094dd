"""What a protected explainer guarantees: the statement, the conditions that were checked, and what is not covered."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from jali.core.guarantee import Guarantee


@dataclass(frozen=True)
class Condition:
    """One condition of a guarantee; met: True or False where it was checked, None where only its user can know.

    otherwise: what is the case where it is not met, if the text alone would read as if it were.
    """

    text: str
    met: bool | None = None
    otherwise: str = ""

    def __str__(self) -> str:
        state = {True: "checked", False: "NOT MET", None: "yours to keep"}[self.met]
        return f"{self.text} ({state})"


@dataclass(frozen=True)
class Protection:
    """A guarantee in words; void where a condition that was checked is not met.

    epsilon, delta: of differential privacy, None where it is not claimed. per: whether each answer costs epsilon, or
    all together do.

    >>> few = Condition("each group has 10 people", False, "a group has 3 people")
    >>> print(Protection("No value is that of one person.", (few,)))
    VOID: a group has 3 people (the claim would be: No value is that of one person.)
    """

    statement: str
    conditions: tuple[Condition, ...] = ()
    not_covered: tuple[str, ...] = ()
    epsilon: float | None = None
    delta: float | None = None
    per: str = ""

    @property
    def void(self) -> str:
        """The conditions that are not met; empty where none is known to fail."""
        return "; ".join(c.otherwise or c.text for c in self.conditions if c.met is False)

    def __str__(self) -> str:
        return f"VOID: {self.void} (the claim would be: {self.statement})" if self.void else self.statement

    def explained(self) -> str:
        """The statement with its conditions and what is not covered, a line each."""
        lines = [str(self), *(f"  condition: {c}" for c in self.conditions)]
        return "\n".join([*lines, *(f"  not covered: {text}" for text in self.not_covered)])

    def to_dict(self) -> dict[str, Any]:
        """Plain values that JSON can hold."""
        return asdict(self) | {"void": self.void}

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.explained())}</pre>"


def of_claim(claim: Guarantee, seeded: bool, more: tuple[Condition, ...] = ()) -> Protection:
    """A claim of differential privacy as a protection.

    seeded: the noise was drawn from a seed that can be repeated, as in a study, and not from the system.
    """
    conditions = [Condition(text) for text in claim.conditions]
    if claim.void:
        conditions.insert(0, Condition(claim.void, False))
    if claim.refuted:
        conditions.insert(0, Condition(claim.refuted, False))
    drawn = Condition(
        "the noise is drawn from the system's random bytes, not from a seed",
        not seeded,
        "the noise was drawn from a seed, as in a study: whoever knows the seed can subtract it",
    )
    plain = Guarantee(claim.mechanism, claim.epsilon, claim.adjacency, claim.covers, claim.per, claim.delta)
    kept = () if "decisions" in claim.covers else ("the model and its decisions, from which explanations are made",)
    return Protection(
        f"Differential privacy in the training rows: {plain}.",
        (*conditions, *more, drawn),
        kept,
        claim.epsilon,
        claim.delta,
        claim.per,
    )
