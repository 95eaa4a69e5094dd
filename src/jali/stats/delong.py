"""DeLong's interval of an AUC and of a paired difference of AUCs, in O(n log n), with people as units.

DeLong, DeLong and Clarke-Pearson (1988); that one sort is enough was shown by Sun and Xu (2014); people with several
rows as in Obuchowski (1997).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import expit, logit, ndtri

from jali.core.guesses import Estimate
from jali.core.values import Bools, Floats, Ints
from jali.stats.people import people, variance
from jali.stats.roc import Steps, checked, steps

SKEWED = 0.95  # from this AUC on, what is missing to 1 may be several times as large as it seems, and never below 0
ROUNDING = 1e-12  # a weighted mean of ones may miss 1 in its last digits
TOO_FEW = "An interval needs at least two members and two non-members."


def placements(
    score: Floats, truth: Bools, weight: Floats | None = None, known: Steps | None = None
) -> tuple[Floats, Floats]:
    """Placement of each member (m,) and each non-member (n,) against the other class; the mean of either is the AUC.

    A member's value is the share of non-members below it, a non-member's the share of members above it; ties half.
    known: the steps of the ROC curve of these scores.

    >>> placements(np.array([3.0, 2.0, 2.0, 1.0]), np.array([True, True, False, False]))
    (array([1.  , 0.75]), array([0.75, 1.  ]))
    """
    score, truth = checked(score, truth)
    fp, tp, thresholds = known or steps(score, truth, weight)
    if np.all(score[1:] <= score[:-1]):
        group = np.append(0, np.cumsum(score[1:] != score[:-1]))
    else:
        group = np.searchsorted(-thresholds[1:], -score)
    inside = group[truth]
    outside = group[~truth]
    of_members = 1.0 - (fp[inside] + fp[inside + 1]) / (2 * fp[-1])
    of_others = (tp[outside] + tp[outside + 1]) / (2 * tp[-1])
    return of_members, of_others


def effects(score: Floats, truth: Bools, weight: Floats | None = None, known: Steps | None = None) -> Floats:
    """First-order effect (G,) of each guess on the AUC: w (placement - AUC) / the sum of w in its class.

    >>> effects(np.array([3.0, 2.0, 2.0, 1.0]), np.array([True, True, False, False]))
    array([ 0.0625, -0.0625, -0.0625,  0.0625])
    """
    if weight is None and known is not None and len(known[0]) == len(score) + 1:
        return _of_distinct(truth, known) if np.all(score[1:] <= score[:-1]) else _of_any(score, truth, weight, known)
    score, truth = checked(score, truth)
    return _of_any(score, truth, weight, known)


def _of_distinct(truth: Bools, curve: Steps) -> Floats:
    """`effects` of different scores from the highest down: others above a member, and members above an other."""
    fp, tp, _ = curve
    members = int(tp[-1])
    others = int(fp[-1])
    effect = np.where(truth, (others - fp[1:]) / others, tp[1:] / members)
    mean = float(effect @ truth) / members
    effect -= mean
    effect /= np.where(truth, members, others)
    return np.asarray(effect)


def _of_any(score: Floats, truth: Bools, weight: Floats | None, known: Steps | None) -> Floats:
    effect = np.empty(len(score))
    for side, placed in zip((truth, ~truth), placements(score, truth, weight, known), strict=True):
        if weight is None:
            effect[side] = (placed - placed.mean()) / len(placed)
        else:
            w = weight[side]
            effect[side] = w * (placed - np.average(placed, weights=w)) / w.sum()
    return effect


def delong(
    score: Floats, truth: Bools, level: float = 0.95, group: Ints | None = None, weight: Floats | None = None
) -> Estimate:
    """AUC of one model with DeLong's normal interval, clipped to [0, 1]; the rows of one person (G,) count together.

    Variance = var(placements of members) / m + var(placements of non-members) / n, or `people.variance`. It is zero
    when the classes are separated without error; then min(m, n) disjoint pairs of people, all in order, bound the AUC:
    low = ((1 - level)/2)^(1/min), see `ends`.

    >>> e = delong(np.arange(8.0), np.array([0, 0, 1, 0, 1, 0, 1, 1], dtype=bool))
    >>> round(e.value, 4), round(e.low, 4), e.high
    (0.8125, 0.4808, 1.0)
    """
    score, truth = checked(score, truth)
    person = np.arange(len(score)) if group is None else group
    value = _mean(placements(score, truth, weight)[0], truth, weight)
    pairs = _pairs(truth, person, weight)
    if pairs < 2:
        return Estimate(value, units=1, reason=TOO_FEW)
    half = _half_width(effects(score, truth, weight), truth, person, level)
    return Estimate(value, *ends(value, half, pairs, level), 1)


def ends(value: float, half: float, pairs: float, level: float = 0.95) -> tuple[float, float]:
    """The ends of the interval of an AUC from half its width; pairs: people of the smaller class.

    Near 1 the few pairs that are out of order decide the width, too, and the interval is made on the scale of log-odds
    where that ends lower (Qin and Hotilovac 2008). People who lie far on the wrong side may be so rare that none was
    seen: without any pair out of order, disjoint pairs bound the AUC, and the nearer it is to 1 the more of that bound
    is taken off. The same near 0.

    >>> [round(end, 3) for end in ends(0.9, 0.05, 50)], [round(end, 3) for end in ends(0.99, 0.01, 50)]
    ([0.85, 0.95], [0.933, 1.0])
    >>> [round(end, 3) for end in ends(1.0, 0.0, 50)]
    [0.929, 1.0]
    """
    if value < 0.5:
        low, high = ends(1 - value, half, pairs, level)
        return 1 - high, 1 - low
    certain = float(((1 - level) / 2) ** (1 / pairs))
    if value > 1 - ROUNDING:
        return certain, 1.0
    low = value - half
    if value >= SKEWED:
        on_log_odds = float(expit(logit(value) - half / (value * (1 - value))))
        unseen = certain ** ((value - SKEWED) / (1 - SKEWED))
        low = min(low, on_log_odds, unseen * value)
    return max(0.0, low), min(1.0, value + half)


def delong_difference(
    score_a: Floats,
    score_b: Floats,
    truth: Bools,
    level: float = 0.95,
    group: Ints | None = None,
    weight: Floats | None = None,
) -> Estimate:
    """AUC of `score_a` minus AUC of `score_b` on the same guesses, with DeLong's paired normal interval.

    The variance is that of the differences of placements, person by person, so the variance that both share cancels.

    >>> score, truth = np.arange(8.0), np.array([0, 0, 1, 0, 1, 0, 1, 1], dtype=bool)
    >>> delong_difference(score, score**2, truth).high
    0.0
    """
    person = np.arange(len(score_a)) if group is None else group
    of_members = placements(score_a, truth, weight)[0] - placements(score_b, truth, weight)[0]
    value = _mean(of_members, truth, weight)
    if _pairs(truth, person, weight) < 2:
        return Estimate(value, units=1, reason=TOO_FEW)
    gain = effects(score_a, truth, weight) - effects(score_b, truth, weight)
    half = _half_width(gain, truth, person, level)
    return Estimate(value, max(-1.0, value - half), min(1.0, value + half), 1)


def _mean(of_members: Floats, truth: Bools, weight: Floats | None) -> float:
    return float(of_members.mean() if weight is None else np.average(of_members, weights=weight[truth]))


def _pairs(truth: Bools, person: Ints, weight: Floats | None) -> float:
    """The number of people, weighted if weights are given, in the smaller class."""
    return min(people(person[side], None if weight is None else weight[side]) for side in (truth, ~truth))


def _half_width(effect: Floats, truth: Bools, person: Ints, level: float) -> float:
    return float(ndtri((1 + level) / 2) * math.sqrt(variance(effect, truth, person)))
