"""A budget for answers that cost privacy: paid before they are given, the same question for free, in one file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Prepared
from jali.core.guarantee import Adjacency, Guarantee
from jali.core.values import Floats
from jali.privacy.ledger import BudgetError, Ledger, State, stored
from jali.text.catalogue import ENGLISH

__all__ = ["Budget", "BudgetError"]


@dataclass(frozen=True)
class Budget:
    """At most epsilon for all answers together, counted in the file at `path` by all processes that use it.

    An answer is paid for before it is computed, so a process that is killed gives nothing away for free. The same
    question gets the stored answer and costs nothing. "No answer" is an outcome of the noise as well, so it costs as
    much as an answer. People who have the favourable outcome already, and rows that cannot be read, cost nothing.

    >>> import tempfile
    >>> budget = Budget(1.0, Path(tempfile.mkdtemp()) / "answers.ledger")
    >>> budget.answers_left(0.25), budget.sentence(0.25)
    (4, '4 answers at epsilon = 0.25 each are left of a budget of 1 (0 was spent on 0 answers).')
    """

    epsilon: float
    path: str | Path
    delta: float = 0.0
    adjacency: Adjacency = "replace-one"

    @classmethod
    def open(cls, path: str | Path) -> Budget:
        """The budget that a file keeps, whatever its size."""
        kept = stored(Path(path))
        return cls(kept.epsilon, path, kept.delta, kept.adjacency)

    @cached_property
    def ledger(self) -> Ledger:
        """The file, made if there is none."""
        return Ledger(Path(self.path), self.epsilon, self.delta, self.adjacency)

    def state(self) -> State:
        """What was spent and what is left."""
        return self.ledger.state()

    def answers_left(self, price: float) -> int:
        """How many more answers of this epsilon are sure to be granted.

        By basic composition; the filter may grant more where delta is above 0.
        """
        if not price > 0:
            raise JaliError(f"The price of an answer must be positive, not {price}.")
        return max(0, math.floor((self.epsilon - self.state().basic) / price + 1e-9))

    def sentence(self, price: float) -> str:
        """What is left, in answers."""
        state = self.state()
        left = self.answers_left(price)
        many = f"{left:,} answer{'' if left == 1 else 's'}"
        return (
            f"{many} at epsilon = {price:g} each are left of a budget of {state.epsilon:g} "
            f"({state.spent:.4g} was spent on {state.answers:,} answers)."
        )

    def explanations(self, ready: Prepared, X: Floats, claim: Guarantee) -> Counterfactual:
        """Answers to records X (n, D), paid for one by one; an answer that cannot be paid for raises BudgetError."""
        rows = X.copy()
        found = np.zeros(len(X), dtype=bool)
        for i, x in enumerate(X):
            answer = self.ledger.answer(x + 0.0, claim, partial(_one, ready, x))
            found[i] = bool(answer[0])
            rows[i] = answer[1:] if found[i] else x
        return Counterfactual(rows, found)

    @property
    def terms(self) -> str:
        """What is charged, said before anything is asked."""
        return (
            f'Every new question is paid for before it is answered, and "{ENGLISH.withheld}" costs as much as an '
            "answer, because the noise decides it. Repeated questions are free."
        )


def _one(ready: Prepared, x: Floats, rng: np.random.Generator) -> Floats:
    """Whether there is an answer, and its row, as one array (1 + D,)."""
    found = ready.explain(x[None], rng)
    if not isinstance(found, Counterfactual):
        raise JaliError("Only counterfactuals are paid for one by one.")
    return np.concatenate([[float(found.found[0])], found.rows[0]])
