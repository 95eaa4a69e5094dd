"""The explainers of one model of a game, each prepared once and then queried by every channel and every attack."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from jali.core import registry
from jali.core.explanation import Explainer, Prepared
from jali.core.protocols import Model
from jali.core.values import Dataset, Rng


@dataclass(frozen=True, eq=False)
class Preparations:
    """One model with its training set, and those of its explainers that have been queried.

    draws: the random stream in which an explainer, by its specification, is prepared. made: the prepared explainers, by
    specification. An explainer is prepared at its first query, so that its errors are handled like those of its
    explanations.
    """

    model: Model
    train: Dataset
    draws: Callable[[str], Rng]
    made: dict[str, Prepared] = field(default_factory=dict, repr=False)

    def of(self, explainer: Explainer) -> Prepared:
        """The explainer, ready to explain."""
        name = registry.spec(explainer)
        if name not in self.made:
            train = self.train if explainer.reads_training_data else None
            self.made[name] = explainer.prepare(self.model, self.train.schema, train, self.draws(name))
        return self.made[name]
