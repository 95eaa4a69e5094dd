"""What a ledger says of itself: its state, and the requests that it answered."""

from __future__ import annotations

from dataclasses import dataclass

from jali.core.guarantee import Adjacency


@dataclass(frozen=True)
class State:
    """The state of a ledger: its budget, the totals of its two accountants in epsilon, and how many answers it gave.

    renyi is infinite if delta is 0. answers: paid ones. hits: repeated ones, which are free. unfinished: paid, but not
    yet computed; asking again is free.
    """

    epsilon: float
    delta: float
    adjacency: Adjacency
    basic: float
    renyi: float
    answers: int
    hits: int
    unfinished: int

    @property
    def spent(self) -> float:
        """What was spent by the filter: the smaller of the two totals."""
        return min(self.basic, self.renyi)

    @property
    def left(self) -> float:
        """What is left of the budget; by the Rényi total, an answer costs less than its epsilon."""
        return max(0.0, self.epsilon - self.spent)


@dataclass(frozen=True)
class Entry:
    """One answered request; epsilon: its cost, 0 for a repeated question; cumulative: the total after it."""

    time: str
    user: str
    mechanism: str
    adjacency: Adjacency
    epsilon: float
    cumulative: float
    hit: bool

    def cells(self) -> tuple[str, ...]:
        """The entry as a row of a table: time, user, mechanism, adjacency, epsilon, cumulative, paid or free."""
        costs = (f"{self.epsilon:g}", f"{self.cumulative:.4g}", "free" if self.hit else "paid")
        return (self.time, self.user, self.mechanism, self.adjacency, *costs)
