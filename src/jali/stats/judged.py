"""Guesses judged target model by target model: each is sorted once for all metrics, and nothing of it is kept.

What is kept are the value of each metric and, by person, the sum of their influences: numbers of models and of people,
not of guesses, which can be many millions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from jali.core.guesses import Guesses, places, rows_by_unit
from jali.core.values import Bools, Floats, Ints
from jali.stats import one_model, precision_recall, roc
from jali.stats.influence import Spread, influence
from jali.stats.people import people
from jali.stats.roc import Steps, falling, halved_accuracy, halves, read_off, resolvable, steps


@dataclass(frozen=True)
class OneTarget:
    """The guesses (n,) about one target model.

    person: whose guess each is, a number below that of people. weight: None where all count the same. grouped: whether
    somebody has several guesses.
    """

    score: Floats
    truth: Bools
    person: Ints
    weight: Floats | None = None
    grouped: bool = False

    def by_person(self, effect: Floats, persons: int) -> Floats:
        """Effects of guesses (n,) summed by person (persons,)."""
        everybody = len(effect) == persons and self._in_order
        return effect if everybody else np.asarray(np.bincount(self.person, effect, persons), dtype=np.float64)

    @cached_property
    def _in_order(self) -> bool:
        """Whether guess i is that of person i, all along."""
        return bool(np.all(self.person == np.arange(len(self.person))))

    @property
    def group(self) -> Ints | None:
        """The person of each guess; None where every guess has one of its own."""
        return self.person if self.grouped else None

    @cached_property
    def order(self) -> Ints | slice:
        """The guesses from the highest score down."""
        return falling(self.score)

    @cached_property
    def ranked(self) -> tuple[Floats, Bools]:
        """Scores and memberships from the highest score down."""
        return self.score[self.order], self.truth[self.order]

    @cached_property
    def curve(self) -> Steps:
        """The steps of the ROC curve."""
        return steps(*self.ranked, _some(self.weight, self.order))

    def undefined(self, metric: str) -> str:
        """Why the metric is undefined, or ""."""
        if self.weight is not None:
            roc.weighable(metric)
        return resolvable(metric, self.truth, self.group, self.weight)

    def flags_nobody(self, metric: str) -> bool:
        """Whether the metric is one of records that are flagged as members, and there are none."""
        return metric in precision_recall.OF_CLAIMS and not bool((self.score > 0).any())

    def value(self, metric: str) -> float:
        """The metric."""
        known = read_off(metric, self.curve)
        if known is not None:
            return known
        if metric == "balanced_accuracy":  # who is in a half must not depend on scores
            half = halves(self.truth, self.group)[self.order]
            return halved_accuracy(*self.ranked, half, _some(self.weight, self.order))
        return one_model.metric_of(metric, self.score, self.truth, self.group, self.weight)

    def effect(self, metric: str) -> Floats:
        """The influence of each guess (n,) on the metric."""
        if metric != "auc":
            return influence(metric, self.score, self.truth, self.weight, self.curve)
        out = np.empty(len(self.score))
        out[self.order] = influence(metric, *self.ranked, _some(self.weight, self.order), self.curve)
        return out


@dataclass
class Tally:
    """The values of one metric so far, and what people contribute to their variance; persons: above their numbers."""

    persons: int
    values: list[float] = field(default_factory=list)
    within: float = 0.0
    together: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.together = np.zeros(self.persons)

    def add(self, value: float, by_person: Floats) -> None:
        """Enter a target model: a value, and the influence of each person (P,)."""
        self.values.append(value)
        self.within += float(by_person @ by_person)
        self.together += by_person

    def spread(self, known: int) -> Spread:
        """As `influence.spread`, of so many different people."""
        units = len(self.values)
        squares = self.together**2
        whole = float(squares.sum())
        shared = max(0.0, (whole - self.within) / (units * (units - 1))) if units > 1 else 0.0
        excess = float(squares @ squares) - whole**2 / max(known, 1)
        freedom = 2 * whole**2 / excess if excess > 0 else math.inf
        return Spread(self.within / units**2, shared, max(freedom, 1.0))


@dataclass(frozen=True)
class Measured:
    """Metrics of guesses about target models.

    values (T,) and spread by metric, those that are defined in all target models; reasons: why others are not. people:
    how many are among the guesses about non-members and about members, with weights effectively.
    """

    units: int
    guesses: int
    members: int
    people: tuple[float, float]
    values: Mapping[str, Floats]
    spread: Mapping[str, Spread]
    reasons: Mapping[str, str]


def measured(targets: Iterable[OneTarget], metrics: Sequence[str], persons: int) -> Measured:
    """Judge target models as they come; persons: a number above those of all people."""
    tallies = {metric: Tally(persons) for metric in metrics}
    reasons: dict[str, str] = {}
    nobody = dict.fromkeys(metrics, 0)
    present = _Present(persons)
    units = guesses = members = 0
    for target in targets:
        units += 1
        guesses += len(target.truth)
        members += int(np.count_nonzero(target.truth))
        present.add(target)
        for metric, tally in tallies.items():
            nobody[metric] += target.flags_nobody(metric)
            if metric not in reasons and (reason := target.undefined(metric)):
                reasons[metric] = reason
            if metric not in reasons and not nobody[metric]:
                tally.add(target.value(metric), target.by_person(target.effect(metric), persons))
    reasons = {metric: _no_precision(none, units) for metric, none in nobody.items() if none} | reasons
    good = {metric: tally for metric, tally in tallies.items() if metric not in reasons}
    values = {metric: np.array(tally.values) for metric, tally in good.items()}
    spread = {metric: tally.spread(present.different) for metric, tally in good.items()}
    return Measured(units, guesses, members, present.people, values, spread, reasons)


def _no_precision(none: int, units: int) -> str:
    return f"No record is flagged as a member in {none} of {units} targets: no precision."


@dataclass
class _Present:
    """Who is among the guesses about non-members and about members (2, P), and with which weights."""

    persons: int
    weighed: bool = False
    everybody: bool = False  # whether all are on both sides, so that nothing is left to enter
    count: Floats = field(init=False)
    weight: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.count = np.zeros((2, self.persons))
        self.weight = np.zeros((2, self.persons))

    def add(self, target: OneTarget) -> None:
        """Enter a target model."""
        if target.weight is None and self.everybody:
            return
        for side, mine in enumerate((~target.truth, target.truth)):
            person = target.person[np.flatnonzero(mine)]
            if target.weight is None:
                self.count[side, person] = 1.0
            else:
                self.weighed = True
                self.count[side] += np.bincount(person, minlength=self.persons)
                self.weight[side] += np.bincount(person, target.weight[mine], self.persons)
        self.everybody = bool(self.count.all())

    @property
    def different(self) -> int:
        """How many people there are."""
        return int(np.count_nonzero(self.count.any(axis=0)))

    @property
    def people(self) -> tuple[float, float]:
        """How many there are on either side, with weights effectively, as in `people.people`."""
        sides = [self._side(k) for k in (0, 1)]
        return sides[0], sides[1]

    def _side(self, k: int) -> float:
        there = self.count[k] > 0
        if not self.weighed:
            return float(np.count_nonzero(there))
        mean = self.weight[k, there] / self.count[k, there]
        return float(mean.sum() ** 2 / (mean @ mean)) if mean.any() else 0.0


def numbered(person: Ints) -> tuple[int, Ints]:
    """A number above those of all people (G,), and their numbers: as they are, if none is much larger than G.

    >>> numbered(np.array([4, 2])), numbered(np.array([10**9, 7]))
    ((5, array([4, 2])), (2, array([1, 0])))
    """
    if len(person) and person.min() >= 0 and person.max() < 2 * len(person) + 1024:
        return int(person.max()) + 1, person
    return places(person)


@dataclass(frozen=True)
class Judged:
    """Guesses, and the metrics that are asked of them; these are computed together when the first one is needed."""

    guesses: Guesses
    metrics: tuple[str, ...] = ()

    @cached_property
    def rows(self) -> list[slice | Ints]:
        """The rows of each target model, in their order."""
        return rows_by_unit(self.guesses.unit)

    @cached_property
    def _persons(self) -> tuple[int, Ints]:
        return numbered(self.guesses.group)

    def targets(self) -> Iterator[OneTarget]:
        """Target model by target model."""
        g = self.guesses
        weights = g.weights
        grouped = g.grouped
        _, person = self._persons
        for r in self.rows:
            yield OneTarget(g.score[r], g.truth[r], person[r], _some(weights, r), grouped)

    @cached_property
    def _known(self) -> dict[tuple[str, ...], Measured]:
        return {}

    def measured(self, metric: str) -> Measured:
        """The metric, with all others that are asked for."""
        asked = self.metrics if metric in self.metrics else (metric,)
        if asked not in self._known:
            self._known[asked] = measured(self.targets(), asked, self._persons[0])
        return self._known[asked]

    @cached_property
    def people(self) -> tuple[float, float]:
        """How many people are among the guesses about non-members and about members, with weights effectively."""
        if self._known:
            return next(iter(self._known.values())).people
        sides = (~self.guesses.truth, self.guesses.truth)
        weights = self.guesses.weights
        found = [people(self.guesses.group[side], _some(weights, side)) for side in sides]
        return found[0], found[1]

    def undefined(self, metric: str) -> str:
        """Why the metric is undefined for one of the target models ("" if it is for none)."""
        if not self.rows:
            return "There are no guesses."
        none = 0
        for target in self.targets():
            if reason := target.undefined(metric):
                return reason
            none += target.flags_nobody(metric)
        return _no_precision(none, len(self.rows)) if none else ""

    def values(self, metric: str) -> Floats:
        """The metric of each target model (T,)."""
        return self.measured(metric).values[metric]

    def spread_of(self, metric: str) -> Spread:
        """What people contribute to the variance of the mean of a metric over target models."""
        return self.measured(metric).spread[metric]

    def effects(self, metric: str) -> Floats:
        """The influence of each guess on its target's metric (G,)."""
        effect = np.empty(len(self.guesses.score))
        for r, target in zip(self.rows, self.targets(), strict=True):
            effect[r] = target.effect(metric)
        return effect


@dataclass(frozen=True)
class Paired:
    """Two scores of the same guesses, and the metrics whose differences are asked for; computed together."""

    one: Judged
    other: Judged
    metrics: tuple[str, ...]

    @cached_property
    def _tallies(self) -> dict[str, tuple[Floats, Spread]]:
        persons, _ = self.one._persons
        tallies = {metric: Tally(persons) for metric in self.metrics if not self.one.undefined(metric)}
        seen = np.zeros(persons, dtype=bool)
        for a, b in zip(self.one.targets(), self.other.targets(), strict=True):
            seen[a.person] = True
            for metric, tally in tallies.items():
                effect = a.effect(metric) - b.effect(metric)
                tally.add(a.value(metric) - b.value(metric), a.by_person(effect, persons))
        known = int(np.count_nonzero(seen))
        return {metric: (np.array(tally.values), tally.spread(known)) for metric, tally in tallies.items()}

    def difference(self, metric: str) -> tuple[Floats, Spread]:
        """The difference of a defined metric in each target model (T,), and what people contribute to its variance."""
        return self._tallies[metric]


def _some(array: npt.NDArray[Any] | None, rows: Any) -> npt.NDArray[Any] | None:
    return None if array is None else array[rows]
