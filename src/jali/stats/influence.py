"""The influence of each guess on a metric, and from it the variance that people cause, and share between target models.

Target models that are judged on the same records, with shadow models in common, are not independent: a record that is
easy to expose, or whose shadow values are outliers, raises or lowers the metric of all of them at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from jali.core.values import Bools, Floats, Ints
from jali.stats import delong, precision_recall
from jali.stats.people import totals
from jali.stats.roc import checked, steps, vertex


@dataclass(frozen=True)
class Spread:
    """What the people who are judged contribute to the variance of a mean over target models.

    within: variance of the mean if no two targets shared a person. shared: covariance of two targets. freedom: degrees
    of freedom of these two, from how unequal the people's contributions are.
    """

    within: float = 0.0
    shared: float = 0.0
    freedom: float = math.inf


def influence(metric: str, score: Floats, truth: Bools, weight: Floats | None = None) -> Floats:
    """First-order effect (G,) of each guess on a metric of one target model: metric - its expectation ~ their sum.

    auc: (placement - auc) / class size. balanced_accuracy: that of its two rates at the best threshold, halved,
    the threshold taken as given.
    tpr@alpha: (flagged - TPR) / m for members, -slope (flagged - FPR) / n for the others, who set the threshold; slope
    is that of the ROC curve around alpha. tnr@alpha: the mirror image. With weights (G,), taken as given, w_i / sum w
    takes the place of one by the class size.

    >>> influence("auc", np.array([3.0, 2.0, 2.0, 1.0]), np.array([True, True, False, False]))
    array([ 0.0625, -0.0625, -0.0625,  0.0625])
    """
    score, truth = checked(score, truth)
    name, _, alpha = metric.partition("@")
    if name == "auc":
        return delong.effects(score, truth, weight)
    if name in ("balanced_accuracy", "best_balanced_accuracy"):
        return _of_balanced_accuracy(score, truth, weight)
    if name in precision_recall.NAMES:
        return precision_recall.effects(name, score, truth)
    if name == "tnr":
        return _of_tpr(-score, ~truth, float(alpha), weight)
    return _of_tpr(score, truth, float(alpha), weight)


def shared_covariance(effect: Floats, unit: Ints, person: Ints) -> float:
    """Mean covariance of the metrics of two target models, from the influences of guesses about the same people.

    sum_i sum_{t != s} effect_it effect_is / (T (T - 1)), never below zero, where effect_it sums the guesses about
    person i under target t; effect, unit and person are (G,).
    It is the covariance between readers of Obuchowski and Rockette (1995), with models as readers, people as cases.

    >>> shared_covariance(np.array([0.5, -0.5, 0.5, -0.5]), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    0.5
    """
    units = len(np.unique(unit))
    if units < 2:
        return 0.0
    together = totals(effect, person)
    apart = totals(effect, unit, person)
    return max(0.0, float(together @ together - apart @ apart) / (units * (units - 1)))


def spread(effect: Floats, unit: Ints, person: Ints) -> Spread:
    """What people contribute to the variance of a mean over target models; effect, unit and person are (G,).

    within = sum_it effect_it^2 / T^2 with effect_it as in `shared_covariance`. The degrees of freedom are those of a
    sum of squares x_i = (sum_t effect_it)^2 over n people, 2 (sum x)^2 / (sum x^2 - (sum x)^2 / n): n where the effects
    are normal, fewer where a few people carry the variance.

    >>> spread(np.array([0.5, -0.5, 0.5, -0.5]), np.array([0, 0, 1, 1]), np.array([0, 1, 2, 3])).within
    0.25
    """
    units = len(np.unique(unit))
    apart = totals(effect, unit, person)
    squares = totals(effect, person) ** 2
    whole = float(squares.sum())
    excess = float(squares @ squares) - whole**2 / max(len(squares), 1)
    freedom = 2 * whole**2 / excess if excess > 0 else math.inf
    return Spread(float(apart @ apart) / units**2, shared_covariance(effect, unit, person), max(freedom, 1.0))


def _of_balanced_accuracy(score: Floats, truth: Bools, weight: Floats | None) -> Floats:
    fp, tp, thresholds = steps(score, truth, weight)
    fpr, tpr = fp / fp[-1], tp / tp[-1]
    best = np.argmax(tpr - fpr)
    return _of_rates(score >= thresholds[best], truth, (0.5, -0.5), weight)


def _of_tpr(score: Floats, truth: Bools, alpha: float, weight: Floats | None) -> Floats:
    fp, tp, thresholds = steps(score, truth, weight)
    below, at, above = vertex(fp, alpha * np.array([0.5, 1.0, 1.5]))
    run = (fp[above] - fp[below]) / fp[-1]
    slope = (tp[above] - tp[below]) / tp[-1] / run if run > 0 else 0.0
    return _of_rates(score >= thresholds[at], truth, (1.0, -slope), weight)


def _of_rates(flagged: Bools, truth: Bools, of: tuple[float, float], weight: Floats | None) -> Floats:
    """Effects on of[0] TPR + of[1] FPR at a fixed threshold."""
    w = np.ones(len(flagged)) if weight is None else weight
    effect = np.empty(len(flagged))
    for side, factor in zip((truth, ~truth), of, strict=True):
        total = w[side].sum()
        rate = float(w[side] @ flagged[side]) / total
        effect[side] = factor * w[side] * (flagged[side] - rate) / total
    return effect
