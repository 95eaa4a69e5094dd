"""A number for each target model with the effects of the people behind it, and paired differences of two of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from jali.core.guesses import Estimate, Guesses
from jali.core.values import Bools, Floats, Ints
from jali.stats.influence import spread
from jali.stats.intervals import Judged, average, clopper_pearson, estimate, over_units
from jali.stats.people import people

FEWEST = 2  # targets that a difference needs
UNBOUNDED = (-np.inf, np.inf)


@dataclass(frozen=True, eq=False)
class PerTarget:
    """A number of each target model, by target (K,), its mean with an interval, and who it rests on.

    effect (G,): the first-order effect of each cell on its target's number; unit and person (G,): target and person.
    """

    target: Ints
    value: Floats
    effect: Floats
    unit: Ints
    person: Ints
    mean: Estimate


def of_guesses(metric: str, guesses: Guesses) -> PerTarget | str:
    """A metric of an attack's guesses; where it is not defined, the reason."""
    judged = Judged(guesses)
    if reason := judged.undefined(metric):
        return reason
    target = np.array([guesses.unit[rows][0] for rows in judged.rows])
    mean, _ = estimate(metric, judged, np.random.default_rng(0))
    return PerTarget(target, judged.values(metric), judged.effects(metric), guesses.unit, guesses.group, mean)


def of_people(
    value: Floats, unit: Ints, person: Ints, bounds: tuple[float, float] = UNBOUNDED, yes_no: bool = False
) -> PerTarget | str:
    """The mean of a number (G,) of people, by target (G,); yes_no: each person has it or not."""
    if not len(value):
        return "There is nobody to measure it on."
    target, at = np.unique(unit, return_inverse=True)
    count = np.bincount(at)
    means = np.bincount(at, value) / count
    mean = _within(average(value, unit, person), bounds)
    if yes_no and mean.value in (0.0, 1.0) and mean.low is not None:
        # No case among some people does not mean none among all.
        low, high = clopper_pearson(mean.value * people(person), people(person))
        mean = replace(mean, low=low, high=high)
    return PerTarget(target, means, (value - means[at]) / count[at], unit, person, mean)


def _within(e: Estimate, bounds: tuple[float, float]) -> Estimate:
    if e.low is None or e.high is None:
        return e
    return replace(e, low=max(e.low, bounds[0]), high=min(e.high, bounds[1]))


def difference(a: PerTarget, b: PerTarget) -> Estimate:
    """Mean of a minus that of b over the target models that both have, paired by target and person.

    The effects of one person under one target add up, whichever side they are on; so people whom both sides judge pair,
    and those whom only one side judges count as what they are.
    """
    both = np.intersect1d(a.target, b.target)
    if len(both) < FEWEST:
        return Estimate(None, units=len(both), reason="Fewer than two target models have both numbers.")
    values = a.value[np.isin(a.target, both)] - b.value[np.isin(b.target, both)]
    mine: Bools = np.isin(a.unit, both)
    other: Bools = np.isin(b.unit, both)
    effect = np.concatenate([a.effect[mine], -b.effect[other]])
    unit = np.concatenate([a.unit[mine], b.unit[other]])
    person = np.concatenate([a.person[mine], b.person[other]])
    return over_units(values, 0.95, UNBOUNDED, spread(effect, unit, person))
