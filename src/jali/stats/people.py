"""People as units below the model: the rows of one person are not independent trials.

Every function takes the person of each row (G,), and works the same where every row is a person of its own.
"""

from __future__ import annotations

import numpy as np

from jali.core.guesses import places
from jali.core.values import Bools, Floats, Ints

ENOUGH = 10  # people on either side of a rate from which on its design effect can be estimated


def totals(x: Floats | Bools, *keys: Ints) -> Floats:
    """Sums of x (G,) over the rows that agree in all keys (G,), in the order of the keys.

    >>> totals(np.array([1.0, 2.0, 4.0]), np.array([7, 5, 7]))
    array([2., 5.])
    >>> totals(np.array([1.0, 2.0, 4.0]), np.array([7, 5, 7]), np.array([0, 0, 1]))
    array([2., 1., 4.])
    """
    at = np.zeros(len(x), dtype=np.int64)
    for key in keys:
        found, place = places(key)
        at = at * found + place
    if len(keys) > 1:
        at = places(at)[1]
    sums: Floats = np.asarray(np.bincount(at, weights=x.astype(np.float64)), dtype=np.float64)
    return sums


def people(group: Ints, weight: Floats | None = None) -> float:
    """How many people the rows (G,) are of; with weights their effective number, (sum w)^2 / sum w^2 (Kish 1965).

    The weight of a person is the mean of the weights of their rows.

    >>> people(np.array([1, 1, 2])), people(np.arange(3), np.array([1.0, 1.0, 2.0]))
    (2.0, 2.6666666666666665)
    """
    if weight is None:
        return float(places(group)[0])
    mean = totals(weight, group) / totals(np.ones(len(group)), group)
    return effective(mean)


def effective(weight: Floats) -> float:
    """The number of people that weights (n,) of any unit count for: (sum w)^2 / sum w^2.

    >>> effective(np.array([2e200, 1e200, 1e200]))
    2.6666666666666665
    """
    largest = weight.max(initial=0.0)
    if not largest:
        return 0.0
    share = weight / largest
    return float(share.sum() ** 2 / (share @ share))


def variance(effect: Floats, truth: Bools, group: Ints) -> float:
    """Variance of a metric of one model from the influence of each guess (G,), summed by person.

    With a_i and b_i the sums over person i's rows as a member and as a non-member, of I and J people, and K people in
    all: I / (I - 1) sum a_i^2 + J / (J - 1) sum b_i^2 + 2 K / (K - 1) sum a_i b_i. For an AUC this is the variance of
    Obuchowski (1997), and DeLong's where every row is a person of its own.

    >>> effect, truth = np.array([0.1, -0.1, 0.2, -0.2]), np.array([True, True, False, False])
    >>> round(variance(effect, truth, np.arange(4)), 3)
    0.2
    """
    inside = totals(effect * truth, group)
    outside = totals(effect * ~truth, group)
    own = _corrected(people(group[truth])) * float(inside @ inside)
    other = _corrected(people(group[~truth])) * float(outside @ outside)
    both = _corrected(len(inside)) * float(inside @ outside)
    return max(0.0, own + other + 2 * both)


def _corrected(n: float) -> float:
    return n / max(n - 1, 1.0)


def trials(hit: Bools, group: Ints, weight: Floats | None = None) -> float:
    """How many independent trials a rate counts for: p (1 - p) / its variance with people as units, at most all rows.

    The effective sample size of Korn and Graubard (1998). Fewer than ten people with a hit, or without, do not show
    how hits come together within people; then every person is one trial.

    >>> round(trials(np.repeat([True, False], 100), np.arange(200) // 2)), trials(np.arange(9) > 8, np.arange(9) // 3)
    (99, 3.0)
    """
    persons = people(group, weight)
    if persons == len(hit) or min(people(group[hit]), people(group[~hit])) < ENOUGH:
        return persons
    w = np.ones(len(hit)) if weight is None else weight
    rate = float(w @ hit) / float(w.sum())
    effect = totals(w * (hit - rate), group) / float(w.sum())
    spread = _corrected(len(effect)) * float(effect @ effect)
    return min(float(len(hit)), rate * (1 - rate) / spread)
