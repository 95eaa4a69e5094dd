"""Answers from a list of groups of people: what a record would have to change to be like one of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.anonymity.region_search import Trial, distances
from jali.core.explanation import Counterfactual, Regions, legal
from jali.core.protocols import Model
from jali.core.values import Floats, Ints, Rng
from jali.explain.native.rows import by_wanted, predictions, wanted_classes


@dataclass(frozen=True, eq=False)
class PreparedGroups:
    """A list of groups: regions (G,) of mutable columns, their class label (G,), and how many people (G,) each has.

    k: the least number of people. floor, tries: as in `k_groups`. No training row is kept.
    """

    model: Model
    regions: Regions
    label: Ints
    people: Ints
    k: int
    floor: float
    tries: int

    def explain(self, X: Floats, rng: Rng) -> Counterfactual:  # noqa: ARG002
        """The part of a group that each record would have to move to; the same at every call."""
        schema = self.regions.schema
        legal(X, schema)
        wanted = wanted_classes(predictions(self.model, X)[1], schema)
        low = X.copy()
        high = X.copy()
        allowed = Regions.of(X, schema).allowed.copy()
        found = np.zeros(len(X), dtype=bool)
        for who, classes in by_wanted(wanted):
            at = np.flatnonzero(classes[self.label])
            if len(at):
                trial = Trial(self.model, self.regions.pick(at), self.floor, classes)
                got, group, change = trial.answers(X[who], self._order(X[who], at))
                mine = who[got]
                low[mine] = np.where(change, self.regions.low[at[group]], X[mine])
                high[mine] = np.where(change, self.regions.high[at[group]], X[mine])
                allowed[mine] = np.where(change[:, :, None], self.regions.allowed[at[group]], allowed[mine])
                found[mine] = True
        regions = Regions(low, high, allowed, schema)
        return Counterfactual(np.where(found[:, None], regions.nearest(X), X), found, regions)

    def _order(self, X: Floats, at: Ints) -> Ints:
        """The nearest groups (n, T) of each record among those at (g,), as positions in at, nearest first."""
        far = distances(X, self.regions.pick(at))
        some = min(self.tries, len(at))
        return np.argsort(far, axis=1, kind="stable")[:, :some]
