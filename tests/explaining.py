"""Prepare an explainer and explain with it in one call, and explainers of a test's own in one method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


def explained(explainer, model, X, schema, train, rng):
    """What an explainer says of raw rows X (n, D) of a model with this training set."""
    return explainer.prepare(model, schema, train, rng).explain(X, rng)


def protected(part, model, there, train):
    """What a k-anonymous explainer makes of the counterfactuals of another."""
    return part.prepare(model, train.schema, train, None).protect(there)


class Direct:
    """An explainer that fits nothing; a subclass says in `answer` what it gives."""

    reads_training_data = False

    def prepare(self, model, schema, train, rng):
        return Ready(self, model, schema, train)


@dataclass(frozen=True, eq=False)
class Ready:
    part: Any
    model: Any
    schema: Any
    train: Any

    def explain(self, X, rng):
        return self.part.answer(self.model, X, self.schema, self.train, rng)
