"""Guesses about several target models, sorted once for all metrics."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from jali.core.guesses import Guesses, rows_by_unit
from jali.core.values import Bools, Floats, Ints
from jali.stats import one_model, precision_recall, roc
from jali.stats.influence import Owners, Spread, influence
from jali.stats.people import people
from jali.stats.roc import Steps, falling, halved_accuracy, halves, read_off, resolvable, steps


@dataclass(frozen=True)
class Judged:
    """Guesses with the rows of each target model; what is computed is target by target, from the highest score down."""

    guesses: Guesses

    @cached_property
    def rows(self) -> list[slice | Ints]:
        """The rows of each target model, in their order."""
        return rows_by_unit(self.guesses.unit)

    @cached_property
    def order(self) -> Ints:
        """The rows (G,) target by target, from the highest score down."""
        everything = np.arange(len(self.guesses.score))
        return np.concatenate([everything[r][falling(self.guesses.score[r])] for r in self.rows])

    @cached_property
    def parts(self) -> list[slice]:
        """Where each target model is in that order."""
        ends = np.cumsum([len(self.guesses.score[r]) for r in self.rows]).tolist()
        return [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]

    @cached_property
    def score(self) -> Floats:
        """Scores (G,) in that order."""
        return self.guesses.score[self.order]

    @cached_property
    def truth(self) -> Bools:
        """Memberships (G,) in that order."""
        return self.guesses.truth[self.order]

    @cached_property
    def weight(self) -> Floats | None:
        """Weights (G,) in that order; None where all guesses count the same."""
        weights = self.guesses.weights
        return None if weights is None else weights[self.order]

    @cached_property
    def group(self) -> Ints | None:
        """The person of each guess (G,) in that order; None where every record is a person of its own."""
        return self.guesses.group[self.order] if self.guesses.grouped else None

    @cached_property
    def half(self) -> Bools:
        """Half of the people (G,) in that order, for held-out accuracy; who is in it must not depend on scores."""
        group = self.guesses.group if self.guesses.grouped else None
        chosen = np.empty(len(self.guesses.score), dtype=bool)
        for r in self.rows:
            chosen[r] = halves(self.guesses.truth[r], _some(group, r))
        return chosen[self.order]

    @cached_property
    def curves(self) -> list[Steps]:
        """The steps of the ROC curve of each target model."""
        return [steps(self.score[p], self.truth[p], _some(self.weight, p)) for p in self.parts]

    @cached_property
    def owners(self) -> Owners:
        """Whose guesses they are."""
        return Owners.of(self.guesses.unit, self.guesses.group)

    @cached_property
    def people(self) -> tuple[float, float]:
        """How many people are among the guesses about non-members and about members, with weights effectively."""
        sides = (~self.guesses.truth, self.guesses.truth)
        weights = self.guesses.weights
        found = [people(self.guesses.group[side], _some(weights, side)) for side in sides]
        return found[0], found[1]

    def undefined(self, metric: str) -> str:
        """Why the metric is undefined for one of the target models ("" if it is for none)."""
        if not self.rows:
            return "There are no guesses."
        if self.weight is not None:
            roc.weighable(metric)
        reasons = (resolvable(metric, self.truth[p], _some(self.group, p), _some(self.weight, p)) for p in self.parts)
        none = sum(not (self.score[p] > 0).any() for p in self.parts) if metric in precision_recall.OF_CLAIMS else 0
        last = f"No record is flagged as a member in {none} of {len(self.rows)} targets: no precision." if none else ""
        return next((reason for reason in reasons if reason), last)

    def values(self, metric: str) -> Floats:
        """The metric of each target model (T,)."""
        if metric == "auc" or "@" in metric:
            return np.array([read_off(metric, curve) for curve in self.curves])
        if metric == "balanced_accuracy":
            each = ((self.score[p], self.truth[p], self.half[p], _some(self.weight, p)) for p in self.parts)
            return np.array([halved_accuracy(*four) for four in each])
        some = ((self.score[p], self.truth[p], _some(self.group, p), _some(self.weight, p)) for p in self.parts)
        return np.array([one_model.metric_of(metric, *four) for four in some])

    def effects(self, metric: str) -> Floats:
        """The influence of each guess on its target's metric (G,)."""
        effect = np.empty(len(self.guesses.score))
        effect[self.order] = self._effects(metric)
        return effect

    def _effects(self, metric: str) -> Floats:
        """The same from the highest score of each target down."""
        each = zip(self.parts, self.curves, strict=True)
        found = [influence(metric, self.score[p], self.truth[p], _some(self.weight, p), curve) for p, curve in each]
        return np.concatenate(found)

    def spread(self, effect: Floats) -> Spread:
        """What people contribute to the variance of a mean of influences (G,) over target models."""
        return self.owners.spread(effect)

    def spread_of(self, metric: str) -> Spread:
        """What people contribute to the variance of the mean of a metric over target models."""
        return self._owners.spread(self._effects(metric))

    @cached_property
    def _owners(self) -> Owners:
        """Whose guesses they are, from the highest score of each target down."""
        known = self.owners
        return Owners(known.units, known.person[self.order], _some(known.cell, self.order))


def _some(array: npt.NDArray[Any] | None, rows: Any) -> npt.NDArray[Any] | None:
    return None if array is None else array[rows]
