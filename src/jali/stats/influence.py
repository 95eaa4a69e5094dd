"""The influence of each guess on a metric, and from it the covariance between target models.

Target models that are judged on the same records, with shadow models in common, are not independent: a record that is
easy to expose, or whose shadow values are outliers, raises or lowers the metric of all of them at once.
"""

from __future__ import annotations

import numpy as np

from jali.core.values import Bools, Floats, Ints
from jali.stats import decided
from jali.stats.delong import placements
from jali.stats.roc import checked, steps, vertex


def influence(metric: str, score: Floats, truth: Bools) -> Floats:
    """First-order effect (G,) of each guess on a metric of one target model: metric - its expectation ~ their sum.

    auc: (placement - auc) / class size. balanced_accuracy: that of its two rates at the best threshold, halved,
    the threshold taken as given.
    tpr@alpha: (flagged - TPR) / m for members, -slope (flagged - FPR) / n for the others, who set the threshold; slope
    is that of the ROC curve around alpha. tnr@alpha: the mirror image.

    >>> influence("auc", np.array([3.0, 2.0, 2.0, 1.0]), np.array([True, True, False, False]))
    array([ 0.0625, -0.0625, -0.0625,  0.0625])
    """
    score, truth = checked(score, truth)
    name, _, alpha = metric.partition("@")
    if name == "auc":
        return _of_auc(score, truth)
    if name in ("balanced_accuracy", "best_balanced_accuracy"):
        return _of_balanced_accuracy(score, truth)
    if name in decided.NAMES:
        return decided.effects(name, score, truth)
    return _of_tpr(-score, ~truth, float(alpha)) if name == "tnr" else _of_tpr(score, truth, float(alpha))


def shared_covariance(effect: Floats, unit: Ints, record: Ints) -> float:
    """Mean covariance of the metrics of two target models, from the influences of guesses about the same records.

    sum_i sum_{t != s} effect_it effect_is / (T (T - 1)), never below zero; effect, unit and record are (G,).
    It is the covariance between readers of Obuchowski and Rockette (1995), with models as readers, records as cases.

    >>> shared_covariance(np.array([0.5, -0.5, 0.5, -0.5]), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    0.5
    """
    units = len(np.unique(unit))
    together = np.bincount(record, weights=effect)
    return max(0.0, float(together @ together - effect @ effect) / (units * (units - 1)))


def _of_auc(score: Floats, truth: Bools) -> Floats:
    of_members, of_others = placements(score, truth)
    effect = np.empty(len(score))
    effect[truth] = (of_members - of_members.mean()) / len(of_members)
    effect[~truth] = (of_others - of_others.mean()) / len(of_others)
    return effect


def _of_balanced_accuracy(score: Floats, truth: Bools) -> Floats:
    fp, tp, thresholds = steps(score, truth)
    fpr, tpr = fp / fp[-1], tp / tp[-1]
    best = np.argmax(tpr - fpr)
    return _of_rates(score >= thresholds[best], truth, 0.5, -0.5)


def _of_tpr(score: Floats, truth: Bools, alpha: float) -> Floats:
    fp, tp, thresholds = steps(score, truth)
    below, at, above = vertex(fp, alpha * np.array([0.5, 1.0, 1.5]))
    run = (fp[above] - fp[below]) / fp[-1]
    slope = (tp[above] - tp[below]) / tp[-1] / run if run > 0 else 0.0
    return _of_rates(score >= thresholds[at], truth, 1.0, -slope)


def _of_rates(flagged: Bools, truth: Bools, of_tpr: float, of_fpr: float) -> Floats:
    """Effects on of_tpr TPR + of_fpr FPR at a fixed threshold."""
    tpr, fpr = flagged[truth].mean(), flagged[~truth].mean()
    members, others = np.count_nonzero(truth), np.count_nonzero(~truth)
    effect: Floats = np.where(truth, of_tpr * (flagged - tpr) / members, of_fpr * (flagged - fpr) / others)
    return effect
